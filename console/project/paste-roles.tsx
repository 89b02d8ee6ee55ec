import { useId, useState } from 'preact/hooks'
import { useOrganization } from '../address/place.ts'
import { write } from '../api/call.ts'
import { ApiError } from '../api/errors.ts'
import { readAgain } from '../api/queries.ts'
import { Dialog } from '../pieces/dialog.tsx'
import { say } from '../pieces/notices.tsx'
import { Problem } from '../pieces/problem.tsx'
import { common } from '../texts/common.ts'
import { rolesOf } from './pasted-roles.ts'
import { roleWords as t } from './role-words.ts'

/** Adds several roles at once: all of them, or none. */
export function PasteRoles({ projectId, onClose }: { projectId: string; onClose: () => void }) {
  const id = useId()
  const organization = useOrganization()
  const [text, setText] = useState('')
  const [error, setError] = useState<Error>()
  const [isBusy, setBusy] = useState(false)
  const roles = rolesOf(text)
  const submit = async (event: Event) => {
    event.preventDefault()
    if (isBusy || roles.length === 0) return
    setBusy(true)
    setError(undefined)
    try {
      await write('roster.grants.v1.ProjectService/BulkAddProjectRoles', { projectId, roles }, { organization })
      say(t.addedMany(roles.length))
      void readAgain()
      onClose()
    } catch (cause) {
      setError(cause as Error)
    } finally {
      setBusy(false)
    }
  }
  const violations = error instanceof ApiError ? error.violations : []
  return (
    <Dialog title={t.paste} onClose={onClose}>
      <form class="fields" onSubmit={(event) => void submit(event)}>
        <div class="field">
          <label for={id}>{t.lines}</label>
          <textarea
            id={id}
            rows={8}
            spellcheck={false}
            aria-describedby={`${id}-hint`}
            value={text}
            placeholder={'reader, Reader\napprover, Approver, Money'}
            onInput={(event) => setText(event.currentTarget.value)}
          />
          <small id={`${id}-hint`}>{t.linesHint}</small>
        </div>
        {violations.length > 0 ? (
          <ul class="faults" role="alert">
            {violations.map((violation) => (
              <li class="fault">{sayViolation(violation)}</li>
            ))}
          </ul>
        ) : (
          error && <Problem error={error} />
        )}
        <div class="actions">
          <button type="button" onClick={onClose}>
            {common.cancel}
          </button>
          <button class="primary" disabled={isBusy || roles.length === 0}>
            {t.addMany(roles.length)}
          </button>
        </div>
      </form>
    </Dialog>
  )
}

// `roles[2].key` is the third line.
function sayViolation({ field, description }: { field: string; description: string }): string {
  const [, at, name = ''] = /^roles\[(\d+)\]\.?(.*)$/.exec(field) ?? []
  const label = { key: t.key, displayName: t.displayName, group: t.group }[name] ?? name
  return at === undefined ? `${field} ${description}.` : `${t.line(Number(at) + 1)}: ${label} ${description}.`
}

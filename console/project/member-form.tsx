import { lazy, Suspense } from 'preact/compat'
import { useState } from 'preact/hooks'
import { useOrganization } from '../address/place.ts'
import { write } from '../api/call.ts'
import { readAgain } from '../api/queries.ts'
import { Dialog } from '../pieces/dialog.tsx'
import { say } from '../pieces/notices.tsx'
import { Problem } from '../pieces/problem.tsx'
import { common } from '../texts/common.ts'
import { usePeople } from '../people/pick-person.ts'
import { memberRoles } from './member-roles.ts'
import { words } from './words.ts'

const Picker = lazy(() => import('../form/picker.tsx'))

/** A member as the list has them; a new one without an id. */
export interface Edited {
  userId: string
  name: string
  roles: string[]
  sequence?: string
}

interface Props {
  projectId: string
  edited: Edited
  onClose: () => void
}

/** Gives somebody roles in the administration of a project. */
export function MemberForm({ projectId, edited, onClose }: Props) {
  const organization = useOrganization()
  const [{ userId, name }, setPerson] = useState(edited)
  const [roles, setRoles] = useState(edited.roles)
  const [error, setError] = useState<Error>()
  const [isBusy, setBusy] = useState(false)
  const isNew = edited.userId === ''
  const submit = async (event: Event) => {
    event.preventDefault()
    if (isBusy || userId === '' || roles.length === 0) return
    setBusy(true)
    setError(undefined)
    try {
      const method = isNew ? ('AddProjectMember' as const) : ('UpdateProjectMember' as const)
      const options = { organization, sequence: edited.sequence }
      await write(`roster.grants.v1.ProjectMemberService/${method}`, { projectId, userId, roles }, options)
      say(isNew ? words.memberAdded(name) : words.memberChanged(name))
      void readAgain()
      onClose()
    } catch (cause) {
      setError(cause as Error)
    } finally {
      setBusy(false)
    }
  }
  const toggle = (role: string) => () =>
    setRoles(roles.includes(role) ? roles.filter((other) => other !== role) : [...roles, role])
  return (
    <Dialog title={isNew ? words.addMember : `${common.change}: ${name}`} onClose={onClose}>
      <form class="fields" onSubmit={(event) => void submit(event)}>
        {isNew && (
          <Suspense fallback={null}>
            <Picker
              autofocus
              label={words.findPerson}
              useOptions={usePeople}
              onPick={({ id, label }) => setPerson({ ...edited, userId: id, name: label })}
            />
          </Suspense>
        )}
        {isNew && name !== '' && <p>{name}</p>}
        <fieldset class="checks">
          <legend>{words.roles}</legend>
          {Object.entries(memberRoles).map(([role, text]) => (
            <label key={role} class="box">
              <input type="checkbox" checked={roles.includes(role)} onChange={toggle(role)} />
              <span>
                {text} <small>{role}</small>
              </span>
            </label>
          ))}
        </fieldset>
        {error && <Problem error={error} />}
        <div class="actions">
          <button type="button" onClick={onClose}>
            {common.cancel}
          </button>
          <button class="primary" disabled={isBusy || userId === '' || roles.length === 0}>
            {isNew ? common.add : common.save}
          </button>
        </div>
      </form>
    </Dialog>
  )
}

import { useId, useState } from 'preact/hooks'
import { useOrganization } from '../address/place.ts'
import { write } from '../api/call.ts'
import { readAgain } from '../api/queries.ts'
import { Dialog } from '../pieces/dialog.tsx'
import { say } from '../pieces/notices.tsx'
import { Problem } from '../pieces/problem.tsx'
import { common } from '../texts/common.ts'
import { secretWords as t } from './secret-words.ts'

interface KeyFormProps {
  projectId: string
  appId: string
  /** Gets the key file, where a pair was made. */
  onMade: (file: string) => void
  onClose: () => void
}

/** Adds a key: the caller's own public one, or a new pair. */
export function KeyForm({ projectId, appId, onMade, onClose }: KeyFormProps) {
  const id = useId()
  const organization = useOrganization()
  const [publicKey, setPublicKey] = useState('')
  const [error, setError] = useState<Error>()
  const [isBusy, setBusy] = useState(false)
  const submit = async (event: Event) => {
    event.preventDefault()
    if (isBusy) return
    setBusy(true)
    setError(undefined)
    const own = publicKey.trim()
    try {
      const request = { projectId, appId, type: 'KEY_TYPE_JSON' as const, ...(own && { publicKey: own }) }
      const method = 'roster.grants.v1.ApplicationService/AddApplicationKey'
      const { keyDetails = '' } = await write(method, request, { organization })
      if (keyDetails) onMade(textOf(keyDetails))
      say(t.keyAdded)
      void readAgain()
      onClose()
    } catch (cause) {
      setError(cause as Error)
    } finally {
      setBusy(false)
    }
  }
  return (
    <Dialog title={t.addKey} onClose={onClose}>
      <form class="fields" onSubmit={(event) => void submit(event)}>
        <div class="field">
          <label for={id}>{t.ownKey}</label>
          <textarea
            id={id}
            rows={6}
            maxLength={10_000}
            spellcheck={false}
            aria-describedby={`${id}-hint`}
            value={publicKey}
            onInput={(event) => setPublicKey(event.currentTarget.value)}
          />
          <small id={`${id}-hint`}>{t.ownKeyHint}</small>
        </div>
        {error && <Problem error={error} />}
        <div class="actions">
          <button type="button" onClick={onClose}>
            {common.cancel}
          </button>
          <button class="primary" disabled={isBusy}>
            {t.addKey}
          </button>
        </div>
      </form>
    </Dialog>
  )
}

// Bytes come in base64.
function textOf(bytes: string): string {
  return new TextDecoder().decode(Uint8Array.from(atob(bytes), (character) => character.codePointAt(0)!))
}

import { useId, useState } from 'preact/hooks'
import type { GrantsClientSecret } from '#gen/console/api'
import { useOrganization } from '../address/place.ts'
import { write } from '../api/call.ts'
import { readAgain } from '../api/queries.ts'
import { Dialog } from '../pieces/dialog.tsx'
import { say } from '../pieces/notices.tsx'
import { Problem } from '../pieces/problem.tsx'
import { common } from '../texts/common.ts'
import { secretWords as t } from './secret-words.ts'

const service = 'roster.grants.v1.ApplicationService'

interface SecretFormProps {
  projectId: string
  appId: string
  /** Empty: a new one is made. */
  secret: GrantsClientSecret
  onMade: (text: string) => void
  onClose: () => void
}

/** Makes a secret, or says when one ends. */
export function SecretForm({ projectId, appId, secret, onMade, onClose }: SecretFormProps) {
  const id = useId()
  const organization = useOrganization()
  const [day, setDay] = useState(secret.expirationDate?.slice(0, 10) ?? '')
  const [error, setError] = useState<Error>()
  const [isBusy, setBusy] = useState(false)
  const { secretId = '' } = secret
  const isNew = secretId === ''
  const isPast = day !== '' && endOf(day) <= new Date()
  const submit = async (event: Event) => {
    event.preventDefault()
    if (isBusy || isPast) return
    setBusy(true)
    setError(undefined)
    const until = day === '' ? {} : { expirationDate: endOf(day).toISOString() }
    try {
      if (isNew) {
        const request = { projectId, appId, ...until }
        const { clientSecret = '' } = await write(`${service}/AddClientSecret`, request, { organization })
        onMade(clientSecret)
        say(t.added)
      } else {
        const request = { projectId, appId, secretId, ...until }
        await write(`${service}/SetClientSecretExpiration`, request, { organization })
        say(t.endChanged)
      }
      void readAgain()
      onClose()
    } catch (cause) {
      setError(cause as Error)
    } finally {
      setBusy(false)
    }
  }
  return (
    <Dialog title={isNew ? t.add : t.end} onClose={onClose}>
      <form class="fields" onSubmit={(event) => void submit(event)}>
        <div class="field">
          <label for={id}>{t.endDate}</label>
          <input
            id={id}
            type="date"
            aria-invalid={isPast}
            aria-describedby={`${id}-hint`}
            value={day}
            onInput={(event) => setDay(event.currentTarget.value)}
          />
          {isPast && (
            <span class="fault" role="alert">
              {t.endDate} {t.endPast}.
            </span>
          )}
          <small id={`${id}-hint`}>{t.endHint}</small>
        </div>
        {error && <Problem error={error} />}
        <div class="actions">
          <button type="button" onClick={onClose}>
            {common.cancel}
          </button>
          <button class="primary" disabled={isBusy || isPast}>
            {isNew ? t.add : common.save}
          </button>
        </div>
      </form>
    </Dialog>
  )
}

// The end of that day, as the reader's clock has it.
function endOf(day: string): Date {
  return new Date(`${day}T23:59:59`)
}

import { useState } from 'preact/hooks'
import type { IdpIDP } from '#gen/console/api'
import { useOrganization } from '../address/place.ts'
import { write } from '../api/call.ts'
import { Problem } from '../pieces/problem.tsx'
import { useMayThere, usePlace } from '../providers/place.ts'
import { texts } from '../texts/texts.ts'

const t = texts(
  {
    title: 'Try a sign-in',
    text: 'Sign in at the provider yourself: a page shows the claims that it sends, and what Roster does with them. No session begins here, and no account is created.',
    begin: 'Try it',
    go: 'Go to the provider',
    failed: 'Test the configuration: that shows why.',
  },
  {
    title: 'Eine Anmeldung ausprobieren',
    text: 'Melden Sie sich selbst beim Anbieter an: Eine Seite zeigt die Claims, die er schickt, und was Roster daraus macht. Hier beginnt keine Sitzung, und es wird kein Konto angelegt.',
    begin: 'Ausprobieren',
    go: 'Zum Anbieter',
    failed: 'Prüfen Sie die Einrichtung: Das zeigt, warum.',
  },
)

/** A sign-in that signs in nobody: the provider's answer shows what it says. */
export function Try({ provider: { id: idpId = '' } }: { provider: IdpIDP }) {
  const place = usePlace()
  const organization = useOrganization()
  const may = useMayThere('write')
  const [url, setUrl] = useState('')
  const [error, setError] = useState<Error>()
  if (!may) return null
  const begin = async () => {
    setError(undefined)
    try {
      const { url: to = '' } = await write(place.try, { idpId }, { organization })
      setUrl(/^https?:\/\//.test(to) ? to : '')
    } catch (cause) {
      setError(cause as Error)
    }
  }
  return (
    <div class="card">
      <div class="title">
        <h2>{t.title}</h2>
        {url === '' && <button onClick={() => void begin()}>{t.begin}</button>}
      </div>
      <div class="text">
        <p class="soft">{t.text}</p>
        {url !== '' && (
          // It serves once.
          <a
            class="button primary"
            href={url}
            target="_blank"
            rel="noopener noreferrer"
            onClick={() => setTimeout(() => setUrl(''))}
          >
            {t.go}
          </a>
        )}
      </div>
      {error && (
        <>
          <Problem error={error} />
          <p class="padded soft">{t.failed}</p>
        </>
      )}
    </div>
  )
}

import { useState } from 'preact/hooks'
import { Link } from 'wouter-preact'
import type { UsersExplainTokenResponse } from '#gen/console/api'
import { call } from '../api/call.ts'
import { useHere, useOrganization } from '../address/place.ts'
import { useNames } from '../history/use-names.ts'
import { Problem } from '../pieces/problem.tsx'
import { Time } from '../pieces/time.tsx'
import { Grounds } from './grounds.tsx'
import { words } from './words.ts'

/** What a token is, and why it is not active. The token stays in the field: a secret comes into no address and no cache. */
export function TokenAnswer() {
  const organization = useOrganization()
  const [token, setToken] = useState('')
  const [answer, setAnswer] = useState<UsersExplainTokenResponse>()
  const [error, setError] = useState<Error>()
  const ask = async (event: Event) => {
    event.preventDefault()
    setError(undefined)
    setAnswer(undefined)
    try {
      setAnswer(await call('roster.users.v1.SessionService/ExplainToken', { token: token.trim() }, { organization }))
    } catch (cause) {
      setError(cause as Error)
    }
  }
  return (
    <>
      <form class="fields inside" onSubmit={(event) => void ask(event)}>
        <label>
          {words.tokenText}
          <textarea
            rows={4}
            required
            maxLength={16_000}
            autocomplete="off"
            spellcheck={false}
            value={token}
            onInput={(event) => setToken(event.currentTarget.value)}
          />
          <small>{words.tokenHint}</small>
        </label>
        <div class="actions">
          <button class="primary">{words.ask}</button>
        </div>
      </form>
      {error && <Problem error={error} />}
      <div aria-live="polite">{answer && <Told answer={answer} />}</div>
    </>
  )
}

function Told({ answer }: { answer: UsersExplainTokenResponse }) {
  const here = useHere()
  const { active, kind = '', sentence, ground, userId = '', scopes = [], audience = [] } = answer
  const nameOf = useNames([userId])
  return (
    <>
      <p class="answer">
        <span class={`tag ${active ? 'good' : 'bad'}`}>{active ? '✓' : '✕'}</span>{' '}
        <strong>{active ? words.active : words.notActive}</strong> {sentence}
      </p>
      {ground && <Grounds grounds={[ground]} userId={userId} />}
      <dl class="told">
        <dt>{words.kind}</dt>
        <dd>{kind.replace('TOKEN_KIND_', '').replaceAll('_', ' ').toLowerCase() || '–'}</dd>
        {userId && (
          <>
            <dt>{words.whose}</dt>
            <dd>
              <Link href={here(`/people/${encodeURIComponent(userId)}/sign-in`)}>{nameOf(userId)}</Link>
            </dd>
          </>
        )}
        {scopes.length > 0 && (
          <>
            <dt>{words.scopes}</dt>
            <dd>{scopes.join(' ')}</dd>
          </>
        )}
        {audience.length > 0 && (
          <>
            <dt>{words.audience}</dt>
            <dd>{audience.join(' ')}</dd>
          </>
        )}
        {answer.creationDate && (
          <>
            <dt>{words.created}</dt>
            <dd>
              <Time at={answer.creationDate} />
            </dd>
          </>
        )}
        {answer.expirationDate && (
          <>
            <dt>{words.ends}</dt>
            <dd>
              <Time at={answer.expirationDate} />
            </dd>
          </>
        )}
      </dl>
    </>
  )
}

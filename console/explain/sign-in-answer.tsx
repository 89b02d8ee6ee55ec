import type { UsersSignInProvider } from '#gen/console/api'
import { useRead } from '../api/queries.ts'
import { useNames } from '../history/use-names.ts'
import { History } from '../history/history.tsx'
import { Forbidden, isForbidden, Problem } from '../pieces/problem.tsx'
import { Time } from '../pieces/time.tsx'
import { sayFactors } from '../sign-ins/say-sign-in.ts'
import { Grounds } from './grounds.tsx'
import { sayFactorState, sayProviderState } from './reasons.ts'
import { words } from './words.ts'

interface SignInAnswerProps {
  userId: string
  applicationId: string
  applicationName: string
}

/** Whether somebody can sign in to an application, and why. */
export function SignInAnswer({ userId, applicationId, applicationName }: SignInAnswerProps) {
  const query = useRead(
    'roster.users.v1.SessionService/ExplainSignIn',
    { userId, applicationId, limit: 10 },
    { fresh: true },
  )
  const nameOf = useNames([userId])
  const { data, error } = query
  if (isForbidden(error)) return <Forbidden permission="session.read" />
  if (error && !data) return <Problem error={error} retry={() => void query.refetch()} />
  if (!data) return <div class="card ghost" aria-hidden="true" />
  const next = data.nextSignIn ?? {}
  const { obstacles = [], asked = [], factors = [], providers = [] } = next
  const says = { SIGN_IN_OUTCOME_SUCCEEDS: words.can, SIGN_IN_OUTCOME_WAITS: words.waits }
  const outcome = next.outcome as keyof typeof says
  const isBad = !(outcome in says)
  return (
    <div class="stack" aria-live="polite">
      <div class="card">
        <p class="answer">
          <span class={`tag ${isBad ? 'bad' : 'good'}`}>{isBad ? '✕' : '✓'}</span>{' '}
          <strong>{(says[outcome] ?? words.cannot)(nameOf(userId), applicationName)}</strong>
        </p>
        {obstacles.length > 0 && (
          <>
            <h2 class="heading">{words.against}</h2>
            <Grounds grounds={obstacles} userId={userId} />
          </>
        )}
        {asked.length > 0 && (
          <>
            <h2 class="heading">{words.asked}</h2>
            <Grounds grounds={asked} userId={userId} />
          </>
        )}
        {factors.length > 0 && (
          <>
            <h2 class="heading">{words.factors}</h2>
            <ul class="line">
              {factors.map((factor) => (
                <li key={factor.method}>
                  <strong>{sayFactors(factor.method && [factor.method])}</strong>: {sayFactorState(factor)}
                  {factor.until && (
                    <small>
                      {words.until} <Time at={factor.until} />
                    </small>
                  )}
                </li>
              ))}
            </ul>
          </>
        )}
        {providers.length > 0 && (
          <>
            <h2 class="heading">{words.providers}</h2>
            <ul class="line">
              {bySentence(providers).map(([sentence, alike]) => (
                <li key={sentence}>
                  {alike.map(({ idpId, name }, at) => (
                    <>
                      {at > 0 && ', '}
                      <strong>{name || <code>{idpId}</code>}</strong>
                    </>
                  ))}
                  : {sentence}
                </li>
              ))}
            </ul>
          </>
        )}
        <ul class="line">
          {next.wrongPasswords && (
            <li>
              {words.wrongPasswords(String(next.wrongPasswords.count ?? 0))}
              <small>
                <Time at={next.wrongPasswords.lastDate} />
              </small>
            </li>
          )}
          {next.withoutRoles && <li>{words.withoutRoles}</li>}
          {next.mayResetPassword && <li>{words.mayReset}</li>}
          {data.leftOutScopes?.map(({ scope, sentence }) => (
            <li key={scope}>
              <code>{scope}</code>: {sentence}
            </li>
          ))}
        </ul>
      </div>
      <div class="card">
        <div class="title">
          <h2>{words.happened}</h2>
        </div>
        <History events={data.events ?? []} query={query} permission="session.read" empty={words.nothingHappened} />
      </div>
    </div>
  )
}

// Of twenty providers, most say the same.
function bySentence(providers: UsersSignInProvider[]): [string, UsersSignInProvider[]][] {
  return [...Map.groupBy(providers, sayProviderState)]
}

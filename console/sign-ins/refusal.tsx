import { useState } from 'preact/hooks'
import type { GrantsApplicationRefusal } from '#gen/console/api'
import { call, write } from '../api/call.ts'
import { readAgain, useMay, useRead } from '../api/queries.ts'
import { useOrganization } from '../address/place.ts'
import { say } from '../pieces/notices.tsx'
import { Problem } from '../pieces/problem.tsx'
import { Time } from '../pieces/time.tsx'
import { mending, type Mending } from './mending.ts'
import { words } from './watch-words.ts'

interface RefusalProps {
  projectId: string
  applicationId: string
  refusal: GrantsApplicationRefusal
}

/** One refused request: the parameter, what came, what is registered, and the way to mend it. */
export function Refusal({ refusal, ...of }: RefusalProps) {
  const { parameter, sent, registered = [], description, count = 1, leftOut = 0, refusalDate } = refusal
  const isUri = uris.has(parameter ?? '')
  return (
    <div class="refusal">
      <p>
        <span class="tag bad">{words.refused}</span> {sayCause(refusal)}{' '}
        <small>
          <Time at={refusalDate} />
          {count > 1 && ` · ${words.times(String(count))}`}
        </small>
      </p>
      <small lang="en">{description}</small>
      {parameter && (
        <dl>
          {sent !== '' && (
            <>
              <dt>
                {words.sent} <code>{parameter}</code>
              </dt>
              <dd>
                <code>{sent}</code>
              </dd>
            </>
          )}
          {(isUri || registered.length > 0) && (
            <>
              <dt>{isUri ? words.registered : words.allowed}</dt>
              <dd>
                {registered.map((one) => (
                  <code key={one}>{one}</code>
                ))}
                {registered.length === 0 && words.nothing}
              </dd>
            </>
          )}
        </dl>
      )}
      {leftOut > 0 && <small>{words.leftOut(String(leftOut))}</small>}
      {isUri && <Mend refusal={refusal} {...of} />}
    </div>
  )
}

const uris = new Set(['redirect_uri', 'post_logout_redirect_uri'])

export function sayCause({ cause, parameter = '' }: GrantsApplicationRefusal): string {
  switch (cause) {
    case 'APPLICATION_REFUSAL_CAUSE_REDIRECT_URI':
      return words.redirectUri
    case 'APPLICATION_REFUSAL_CAUSE_PERSON':
      return words.person
    case 'APPLICATION_REFUSAL_CAUSE_CLIENT':
      return words.client
    case 'APPLICATION_REFUSAL_CAUSE_GRANT':
      return words.grant
    case 'APPLICATION_REFUSAL_CAUSE_SIGN_OUT':
      return words.signOutWrong
    default:
      return words.parameterWrong(parameter)
  }
}

/** Registers the address that came. Whoever reads it decides whether it is theirs: it came from a stranger. */
function Mend({ projectId, applicationId, refusal }: RefusalProps) {
  const organization = useOrganization()
  const may = useMay('project.app.write', projectId)
  const [error, setError] = useState<Error>()
  const [isBusy, setBusy] = useState(false)
  const read = { projectId, appId: applicationId }
  const { data } = useRead('roster.grants.v1.ApplicationService/GetApplication', read, { fresh: true })
  const offered = mending(refusal, data?.application)
  if (!may || !offered) return null
  const act = async () => {
    setBusy(true)
    setError(undefined)
    try {
      // What was registered meanwhile stays: the list is added to as it is now, and only if it is still that.
      const now = await call('roster.grants.v1.ApplicationService/GetApplication', read, { organization })
      const wanted = mending(refusal, now.application)
      if (wanted) await register(wanted, now.application?.details?.sequence)
      await readAgain()
      say(words.isRegistered(offered.uri))
    } catch (cause) {
      setError(cause as Error)
    } finally {
      setBusy(false)
    }
  }
  const register = ({ change }: Mending, sequence: string | undefined) =>
    write(
      'roster.grants.v1.ApplicationService/PatchApplication',
      { ...read, oidcConfig: change },
      { organization, sequence },
    )
  return (
    <>
      {error && <Problem error={error} />}
      <button class="primary" disabled={isBusy} onClick={() => void act()}>
        {offered.change.devMode ? words.registerLocal(offered.uri) : words.register(offered.uri)}
      </button>
    </>
  )
}

import { useState } from 'preact/hooks'
import type { GrantsApplicationRefusal } from '#gen/console/api'
import { call, write } from '../api/call.ts'
import { readAgain, useMay, useRead } from '../api/queries.ts'
import { useOrganization } from '../address/place.ts'
import { say } from '../pieces/notices.tsx'
import { Problem } from '../pieces/problem.tsx'
import { Time } from '../pieces/time.tsx'
import { mending, type Mending } from './mending.ts'
import { language } from '../texts/texts.ts'
import { inGerman } from './in-german.ts'
import { ofCause } from './refusal-words.ts'
import { words } from './watch-words.ts'

interface RefusalProps {
  projectId: string
  applicationId: string
  refusal: GrantsApplicationRefusal
}

/** One refused request: the parameter, what came, what is registered, and the way to mend it. */
export function Refusal({ refusal, ...of }: RefusalProps) {
  const { parameter, sent, registered = [], count = 1, leftOut = 0, refusalDate } = refusal
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
      <Why refusal={refusal} />
      {refusal.cause === 'APPLICATION_REFUSAL_CAUSE_PROVIDER' && <ProviderName description={refusal.description} />}
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

/** What the API says of it, in the language of the reader; in English, where that sentence is not known here. */
function Why({ refusal: { cause, description = '' } }: Pick<RefusalProps, 'refusal'>) {
  const reason = /: ([\w-]+)\.$/.exec(description)?.[1] ?? ''
  const known = ofCause[cause!]?.[reason] ?? (language === 'de' ? inGerman(description) : undefined)
  return <small lang={known === undefined ? 'en' : undefined}>{known ?? description}</small>
}

/** Which provider it was. */
function ProviderName({ description = '' }: { description: string | undefined }) {
  const name = /^The identity provider (.+) proved nobody/s.exec(description)?.[1]
  return name ? <p>{name}</p> : null
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
    case 'APPLICATION_REFUSAL_CAUSE_PROVIDER':
      return words.provider
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

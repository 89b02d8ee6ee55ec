import { useState } from 'preact/hooks'
import type { IdpIDP, IdpIDPCheck, IdpIDPCheckKind, IdpIDPCheckResult } from '#gen/console/api'
import { useOrganization } from '../address/place.ts'
import { call } from '../api/call.ts'
import { Problem } from '../pieces/problem.tsx'
import { useMayThere, usePlace } from '../providers/place.ts'
import { helps } from './help-words.ts'
import { words } from './words.ts'

/** Asks the provider for what a sign-in needs, and says what is wrong. */
export function Test({ provider: { id: idpId = '', details } }: { provider: IdpIDP }) {
  const place = usePlace()
  const organization = useOrganization()
  const mayTest = useMayThere('write')
  const [found, setFound] = useState<{ checks: IdpIDPCheck[]; sequence: string | undefined }>()
  const [error, setError] = useState<Error>()
  const [isBusy, setBusy] = useState(false)
  const test = async () => {
    setBusy(true)
    setError(undefined)
    try {
      const { checks = [] } = await call(place.test, { idpId }, { organization })
      setFound({ checks, sequence: details?.sequence })
    } catch (cause) {
      setError(cause as Error)
    } finally {
      setBusy(false)
    }
  }
  // What was found of another configuration says nothing of this one.
  const checks = found?.sequence === details?.sequence ? found?.checks : undefined
  return (
    <div class="card" aria-busy={isBusy}>
      <div class="title">
        <h2>{words.lookTest}</h2>
        {mayTest && (
          <button disabled={isBusy} onClick={() => void test()}>
            {words.testNow}
          </button>
        )}
      </div>
      {error && <Problem error={error} />}
      <div role="status" class="inside">
        {isBusy ? (
          <p class="soft">{words.testing}</p>
        ) : checks ? (
          <p>{sayAll(checks)}</p>
        ) : (
          <p class="soft">{words.testText}</p>
        )}
      </div>
      {!isBusy && checks && (
        <ul class="line">
          {together(checks).map((alike) => (
            <Checks key={alike[0]!.kind} checks={alike} />
          ))}
        </ul>
      )}
    </div>
  )
}

// What could not be checked for one reason is said once.
function together(checks: IdpIDPCheck[]): IdpIDPCheck[][] {
  return checks.reduce<IdpIDPCheck[][]>((found, check) => {
    const last = found.at(-1)?.[0]
    const isAlike = check.result === 'IDP_CHECK_RESULT_NOT_CHECKED' && check.problem === last?.problem
    return isAlike && check.result === last?.result
      ? [...found.slice(0, -1), [...found.at(-1)!, check]]
      : [...found, [check]]
  }, [])
}

function Checks({ checks }: { checks: IdpIDPCheck[] }) {
  const { kind, result, url, problem } = checks[0]!
  const { text, tone } = (result && results[result]) ?? { text: result, tone: '' }
  return (
    <li>
      {checks.map((check) => (check.kind && kinds[check.kind]) ?? check.kind).join(', ')}{' '}
      <span class={`tag ${tone}`}>{text}</span>
      {problem && <p lang="en">{problem}</p>}
      {(tone === 'bad' || tone === 'warn') && kind && <p>{helps[kind]}</p>}
      {url && (
        <small>
          <code>{url}</code>
        </small>
      )}
    </li>
  )
}

function sayAll(checks: IdpIDPCheck[]): string {
  if (checks.some(({ result }) => result === 'IDP_CHECK_RESULT_FAULTY')) return words.someFaulty
  if (checks.some(({ result }) => result === 'IDP_CHECK_RESULT_DOUBTFUL')) return words.someDoubtful
  return words.allPassed
}

const results: Partial<Record<IdpIDPCheckResult, { text: string; tone: string }>> = {
  IDP_CHECK_RESULT_PASSED: { text: words.passed, tone: 'good' },
  IDP_CHECK_RESULT_DOUBTFUL: { text: words.doubtful, tone: 'warn' },
  IDP_CHECK_RESULT_FAULTY: { text: words.faulty, tone: 'bad' },
  IDP_CHECK_RESULT_NOT_CHECKED: { text: words.notChecked, tone: '' },
}

const kinds: Partial<Record<IdpIDPCheckKind, string>> = {
  IDP_CHECK_KIND_SIGN_IN: words.signIn,
  IDP_CHECK_KIND_DISCOVERY: words.discovery,
  IDP_CHECK_KIND_CLOCK: words.clock,
  IDP_CHECK_KIND_ENDPOINTS: words.endpoints,
  IDP_CHECK_KIND_KEYS: words.keys,
  IDP_CHECK_KIND_CLIENT: words.client,
  IDP_CHECK_KIND_REDIRECT_URI: words.redirectUri,
  IDP_CHECK_KIND_CLAIMS: words.claims,
}

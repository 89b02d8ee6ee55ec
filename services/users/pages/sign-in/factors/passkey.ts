import { type PageAnswer, type PasskeyPrompt, SignInError } from '#gen/roster/users/v1/sign_in_service'
import { readNow } from '#lib/database/database'
import type { Context } from '../../../context.ts'
import { firstPasskeys, livingPasskeys, type Passkey } from '../../../directory/events/passkeys.ts'
import { show } from '../../../openid/authorization/answer.ts'
import type { Candidate } from '../../../openid/authorization/candidates.ts'
import type { RequestRow } from '../../../openid/request/request-row.ts'
import type { Binding } from '../../../sessions/factors/binding.ts'
import { makeChallenge } from '../../../sessions/factors/passkey/challenge.ts'
import { requestOptions } from '../../../sessions/factors/passkey/options.ts'
import { relyingParty } from '../../../sessions/factors/passkey/relying-party.ts'
import type { OpenedRequest } from '../opened-request.ts'
import { fixedPerson, type RequestState } from '../request-state.ts'
import { lackedSecondFactors, mayPassOver, otherWays } from './ways.ts'

/** The page of a passkey as a second factor. What it asks the browser for is made once the page is known. */
export function passkeyPage(
  { progress: { error = SignInError.SIGN_IN_ERROR_UNSPECIFIED } }: Pick<RequestRow, 'progress'>,
  person: Candidate,
): PageAnswer {
  const { human } = person.user
  const isDead = (human?.passkeys ?? []).length > 0 && livingPasskeys(human, person.signedInUser.policy).length === 0
  const ways = otherWays(person, 'passkey')
  const mayPass = mayPassOver(person)
  return show({
    $case: 'passkey',
    value: { loginName: person.knownName, passkey: undefined, error, ways, mayPassOver: mayPass, isDead },
  })
}

/** What a passkey is asked for in a request: by the first page, or of the person who is known. */
export interface AskedOfPage {
  binding: Extract<Binding, { for: 'sign-in' | 'again' | 'second' }>
  person: Candidate | undefined
}

export function askedOfPage(
  { row, browser }: Pick<OpenedRequest, 'row' | 'browser'>,
  state: RequestState,
): AskedOfPage {
  const at = { requestId: row.id, browserId: browser.id }
  const person = fixedPerson(state)
  if (!person) return { binding: { for: 'sign-in', ...at }, person }
  const { sessionId, userId } = person.signedInUser
  return { binding: { for: isSecond(person) ? 'second' : 'again', ...at, sessionId, userId }, person }
}

// The person has a first factor already.
function isSecond(person: Candidate): boolean {
  return lackedSecondFactors(person).includes('passkey')
}

/** What the script of a page asks the browser for. Undefined: the known person has no passkey that serves. */
export async function passkeyPrompt(
  { config, keys, sql }: Pick<Context, 'config' | 'keys' | 'sql'>,
  opened: Pick<OpenedRequest, 'row' | 'browser'>,
  state: RequestState,
): Promise<PasskeyPrompt | undefined> {
  const { id } = relyingParty(config)
  const { binding, person } = askedOfPage(opened, state)
  const second = binding.for === 'second'
  const own = person && servingPasskeys(person, id, second)
  if (own?.length === 0) return undefined
  const challenge = makeChallenge(keys, binding, { verifies: !second }, await readNow(sql))
  const options = requestOptions(id, challenge, second ? 'preferred' : 'required', own)
  return { options: JSON.stringify(options), unknownCredentialId: opened.row.progress.unknownCredential ?? '' }
}

function servingPasskeys({ user: { human }, signedInUser }: Candidate, rpId: string, second: boolean): Passkey[] {
  const { allowPasskeys } = signedInUser.policy
  const all = second ? (human?.passkeys ?? []) : firstPasskeys(human)
  return all.filter((passkey) => passkey.rpId === rpId && (allowPasskeys || passkey.secondOnly))
}

import {
  type CheckPasskeyRequest,
  type PageAnswer,
  type PasskeyPrompt,
  type RenewPasskeyChallengeRequest,
  SignInError,
} from '#gen/roster/users/v1/sign_in_service'
import { orUnavailable } from '#lib/database/database'
import { RosterError } from '#lib/errors'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../../context.ts'
import { findUserById } from '../../../directory/login-names/login-user.ts'
import { show, toPage } from '../../../openid/authorization/answer.ts'
import { advance, closeRequest, type Progress, stillOpen } from '../../../openid/request/request-row.ts'
import { Superseded } from '../../../sessions/browsers/superseded.ts'
import { type Refusal, refusalOf } from '../../../sessions/factors/passkey/ceremony.ts'
import { factors } from '../../../sessions/factors/registry.ts'
import { openBrowserSession } from '../../../sessions/open-browser-session.ts'
import { surplusSessions } from '../../../sessions/surplus.ts'
import { proveBesideCode, recoveryPrompt } from '../../sign-in/recovery-by-passkey.ts'
import { askedOfPage, passkeyPrompt } from '../../sign-in/factors/passkey.ts'
import { goingOn, mayPassOver } from '../../sign-in/factors/ways.ts'
import { addOffered, afterOffer, isFailedOffer } from '../../sign-in/passkey-offer.ts'
import { invitationPrompt } from '../../sign-in/invitation-passkey.ts'
import { openForm, type OpenedRequest, openRequest, signingIn } from '../../sign-in/opened-request.ts'
import { requestStateOf } from '../../sign-in/request-state.ts'
import { signInToRequest } from '../../sign-in/sign-in-to-request.ts'

export async function checkPasskey(context: Context, request: CheckPasskeyRequest, call: Call): Promise<PageAnswer> {
  const opened = await openForm(context, request, signingIn, { takesFormer: request.action === 'sign-in' })
  if ('answer' in opened) return opened.answer
  const { row } = opened
  const page = toPage(row.id)
  if (request.action === 'cancel') {
    await closeRequest(context.sql, row.id, 'cancelled')
    return page
  }
  const next = async (progress: Progress, session?: null) => {
    await orUnavailable(advance(context.keys, row.id, progress, session)(context.sql))
    return page
  }
  if (request.action === 'another-account') return next({ asksName: true }, null)
  if (request.action === 'pass-over') {
    const state = await requestStateOf(context, opened, call)
    const person = 'chosen' in state ? state.chosen : undefined
    return person && mayPassOver(person) ? next(goingOn(row.progress, person)) : page
  }
  if (request.action === 'ask') {
    const { isSent } = row.progress.code ?? {}
    return next({ ...row.progress, error: undefined, way: 'passkey', code: isSent ? { isSent } : undefined })
  }
  if (request.action === 'add') {
    const state = await requestStateOf(context, opened, call)
    const person = 'chosen' in state ? state.chosen : undefined
    const error = await addOffered(context, opened, person, request.credential, call).then(() => undefined, asFailed)
    return next(afterOffer(opened, error))
  }
  try {
    return { ...page, newBrowser: await proceed(context, opened, request, call) }
  } catch (error) {
    if (error instanceof Superseded) return page
    const failure = failureOf(error)
    if (!failure) throw error
    return next({ ...row.progress, keep: request.keep === 'on', retryAt: undefined, ...failure })
  }
}

function asFailed(error: unknown): unknown {
  if (error instanceof Superseded || isFailedOffer(error)) return error
  throw error
}

// Returns the new value of the cookie.
async function proceed(
  context: Context,
  opened: OpenedRequest,
  { credential: text, keep }: CheckPasskeyRequest,
  call: Call,
): Promise<string> {
  const { row, browser } = opened
  const state = await requestStateOf(context, opened, call)
  // Its page says what is wrong with the request.
  if ('notice' in state) throw new Superseded()
  const begun = row.progress.recovery?.passkey
  if (begun) {
    // It is no sign-in yet.
    if (!browser.isPresent) throw new Superseded()
    await proveBesideCode(context, opened, begun, { kind: 'passkey', text }, call)
    return ''
  }
  const { binding, person } = askedOfPage(opened, state)
  const find = person && (() => findUserById(context, person.signedInUser.userId))
  const proved = await factors.passkey.check(context, { loginName: '', find, text, asked: { binding } }, call)
  if (proved.check?.second) {
    const along = {
      writes: (of: { sessionId: string; userId: string }) => [advance(context.keys, row.id, goingOn(row.progress), of)],
      guards: [stillOpen(row.id)],
    }
    const { newValue } = await openBrowserSession(context, proved, browser, along, call)
    return newValue
  }
  const { newValue } = await signInToRequest(context, opened, proved, keep === 'on', call)
  await surplusSessions.settle(context, proved.user.userId)
  return newValue
}

/** What the page says of a passkey that failed. Undefined: the error is another one. */
function failureOf(error: unknown): Pick<Progress, 'error' | 'unknownCredential'> | undefined {
  const refusal = refusalOf(error)
  if (refusal) return { error: errors[refusal], unknownCredential: (error as RosterError).metadata['credentialId'] }
  // The person was locked meanwhile, or the passkey removed; or the mailed code counts no more.
  const isGone = error instanceof RosterError && ['CREDENTIALS_INVALID', 'CODE_INVALID'].includes(error.reason)
  return isGone ? { error: SignInError.SIGN_IN_ERROR_PASSKEY_INVALID, unknownCredential: undefined } : undefined
}

const errors: Record<Refusal, SignInError> = {
  unknown: SignInError.SIGN_IN_ERROR_PASSKEY_UNKNOWN,
  late: SignInError.SIGN_IN_ERROR_PASSKEY_LATE,
  'other-person': SignInError.SIGN_IN_ERROR_PASSKEY_OTHER_PERSON,
  unverified: SignInError.SIGN_IN_ERROR_PASSKEY_UNVERIFIED,
  'not-allowed': SignInError.SIGN_IN_ERROR_PASSKEY_NOT_ALLOWED,
  counter: SignInError.SIGN_IN_ERROR_PASSKEY_INVALID,
  exists: SignInError.SIGN_IN_ERROR_PASSKEY_INVALID,
  wrong: SignInError.SIGN_IN_ERROR_PASSKEY_INVALID,
}

export async function renewPasskeyChallenge(
  context: Context,
  request: RenewPasskeyChallengeRequest,
  call: Call,
): Promise<PageAnswer> {
  const opened = await openRequest(context, request, signingIn)
  const begun = opened?.row.progress.recovery?.passkey
  if (opened && begun) return asFile(await recoveryPrompt(context, opened, begun, call))
  const prompt =
    opened && ((await invitationPrompt(context, opened, call)) ?? (await assertionPrompt(context, opened, call)))
  return asFile(prompt)
}

function asFile(prompt: PasskeyPrompt | undefined): PageAnswer {
  const content = Buffer.from(prompt?.options ?? 'null')
  return show({ $case: 'download', value: { fileName: 'passkey.json', mediaType: 'application/json', content } })
}

async function assertionPrompt(
  context: Context,
  opened: OpenedRequest,
  call: Call,
): Promise<PasskeyPrompt | undefined> {
  const state = await requestStateOf(context, opened, call)
  return 'notice' in state ? undefined : passkeyPrompt(context, opened, state)
}

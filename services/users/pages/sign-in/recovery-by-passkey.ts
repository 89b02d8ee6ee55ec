import {
  CodeError,
  RecoveryError,
  type PageAnswer,
  type PasskeyPrompt,
  SignInError,
} from '#gen/roster/users/v1/sign_in_service'
import type { Aggregate } from '#lib/eventstore/aggregate'
import type { Decision } from '#lib/eventstore/command'
import { loadReads } from '#lib/eventstore/load-reads'
import { readNow } from '#lib/database/database'
import { codes, RosterError } from '#lib/errors'
import { anonymous } from '#lib/rpc/caller'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../context.ts'
import type { Human, SecondFactorKind } from '../../directory/events/human.ts'
import {
  canRenew,
  type PasswordCode,
  type PasswordCodeEvent,
  passwordCodeKey,
} from '../../directory/events/password-code.ts'
import { signOutsOf } from '../../directory/events/sign-outs.ts'
import { knownName, type User, userKey } from '../../directory/events/user.ts'
import { findUserById, type LoginUser } from '../../directory/login-names/login-user.ts'
import { mayStillActOn } from '../../directory/may-act-on.ts'
import { isOrganizationOpen } from '../../directory/organizations/statuses.ts'
import { seersOf } from '../../directory/passwords/recovery.ts'
import { countTry } from '../../directory/passwords/reset-code.ts'
import { isActive } from '../../directory/states/user-state.ts'
import { show } from '../../openid/authorization/answer.ts'
import { advance, type Progress, type RecoveryByPasskey, stillOpen } from '../../openid/request/request-row.ts'
import { makeChallenge } from '../../sessions/factors/passkey/challenge.ts'
import { requestOptions } from '../../sessions/factors/passkey/options.ts'
import { livingPasskeys } from '../../directory/events/passkeys.ts'
import { refused } from '../../sessions/factors/passkey/ceremony.ts'
import { relyingParty } from '../../sessions/factors/passkey/relying-party.ts'
import { factors } from '../../sessions/factors/registry.ts'
import { hasFactor, hasSecondFactor } from '../../sessions/factors/kinds.ts'
import { freshFor } from '../../sessions/fresh-for.ts'
import { loadPersonPolicy } from '../../sessions/login-policy/load-person-policy.ts'
import type { PersonPolicy } from '../../sessions/login-policy/login-policy.ts'
import { beginRegistration, finishRegistration, mostPasskeys } from '../../sessions/passkeys/register.ts'
import { wayOf } from './factors/ways.ts'
import type { OpenedRequest } from './opened-request.ts'
import { secondsUntil } from './pages.ts'

type Opened = Pick<OpenedRequest, 'row' | 'browser' | 'now'>

/** Who forgot the password, and entered the mailed code, as of now. */
interface Recovering {
  begun: RecoveryByPasskey
  user: LoginUser
  human: Human
  policy: PersonPolicy
  /** The second factors that the person may prove beside the code. */
  kinds: SecondFactorKind[]
  /** One of them is proved, and nothing of it has changed since. */
  isProved: boolean
}

/**
 * Checks the mailed code, and counts the try. Returns what the request keeps of it; or why no passkey may come by it.
 * INVALID_ARGUMENT CODE_INVALID.
 */
export async function beginByPasskey(
  context: Context,
  { userId, code }: { userId: string; code: string },
  call: Call,
): Promise<RecoveryByPasskey | RecoveryError> {
  const { codeId } = await countTry(context, userId, code, call)
  const begun = { userId, codeId }
  const found = await findRecovering(context, begun, call)
  if (!found?.policy.allowPasskeys) return RecoveryError.RECOVERY_ERROR_PASSKEY_NOT_ALLOWED
  if ((found.human.passkeys ?? []).length >= mostPasskeys) return RecoveryError.RECOVERY_ERROR_PASSKEY_INVALID
  return found.kinds.length === 0 ? RecoveryError.RECOVERY_ERROR_NO_SECOND_FACTOR : begun
}

// Undefined: the code counts no more, or the person may not sign in.
async function findRecovering(context: Context, begun: RecoveryByPasskey, call: Call): Promise<Recovering | undefined> {
  const { userId, codeId, second } = begun
  const [user, { code }] = await Promise.all([
    findUserById(context, userId),
    loadReads(context.store, { code: passwordCodeKey(userId) }),
  ])
  const human = isActive(user?.state) ? user?.state.human : undefined
  if (!user || !human || !isLiving(codeId, human, code.state, code.readAt)) return undefined
  // Roles may have been given since, which whoever set the address lacks.
  if (!(await mayStillActOn(context, seersOf(code.state!, human), userId, call))) return undefined
  const [policy, isOpen] = await Promise.all([
    loadPersonPolicy(context, user, call),
    isOrganizationOpen(context, user.organizationId),
  ])
  if (!isOpen) return undefined
  const kinds = besideMailbox(human, policy)
  const isProved = second !== undefined && kinds.includes(second.kind) && stands(second, user.state, code.readAt)
  return { begun, user, human, policy, kinds, isProved }
}

function isLiving(codeId: string, human: Human, code: PasswordCode | undefined, now: Date): boolean {
  return code?.codeId === codeId && canRenew(code, human, now)
}

// A mailed code would prove the mailbox once more.
function besideMailbox(human: Human, policy: PersonPolicy): SecondFactorKind[] {
  const { secondFactors, allowPasskeys } = policy
  const has: Partial<Record<SecondFactorKind, boolean>> = {
    passkey: allowPasskeys && livingPasskeys(human, policy).length > 0,
    totp: hasFactor(human, 'totp'),
    'recovery-code': hasFactor(human, 'recovery-code') && hasSecondFactor(human),
  }
  return (['passkey', 'totp', 'recovery-code'] as const).filter((kind) => has[kind] && secondFactors.includes(kind))
}

function stands({ kind, setUp, at }: NonNullable<RecoveryByPasskey['second']>, user: User, now: Date): boolean {
  return setUpOf(user, kind) === setUp && now.getTime() - Date.parse(at) <= freshFor * 1000
}

// Another text where the factor was changed, or all sessions were ended: what was proved before counts no more, as in a session.
function setUpOf(user: User, kind: SecondFactorKind): string {
  const { passkeys = [], factorsAdded } = user.human ?? {}
  const ended = signOutsOf(user)
  if (kind === 'passkey') return JSON.stringify([ended, ...passkeys.map(({ id }) => id)])
  return `${ended} ${hasFactor(user.human, kind)} ${factorsAdded?.[kind] ?? 0}`
}

/** The page that comes next: of a second factor, then of the new passkey. Undefined: the code counts no more. */
export async function recoveryStep(
  context: Context,
  opened: Opened,
  begun: RecoveryByPasskey,
  call: Call,
): Promise<PageAnswer | undefined> {
  const found = await findRecovering(context, begun, call)
  const { progress } = opened.row
  if (!found || found.kinds.length === 0) return undefined
  const loginName = knownName(found.user.state)
  if (found.isProved) {
    const passkey = await creationPrompt(context, opened, found)
    if (!passkey) return undefined
    const error = progress.recovery!.error ?? RecoveryError.RECOVERY_ERROR_UNSPECIFIED
    return show({ $case: 'recoveryPasskey', value: { loginName, passkey, error, keep: undefined } })
  }
  const kind = found.kinds.find((one) => one === progress.way) ?? found.kinds[0]!
  const ways = found.kinds.filter((one) => one !== kind).map(wayOf)
  if (kind === 'passkey') {
    const error = progress.error ?? SignInError.SIGN_IN_ERROR_UNSPECIFIED
    return show({
      $case: 'passkey',
      value: {
        loginName,
        passkey: await checkPrompt(context, opened, found),
        error,
        ways,
        mayPassOver: false,
        isDead: false,
      },
    })
  }
  const { error = CodeError.CODE_ERROR_UNSPECIFIED, retryAt } = progress.code ?? {}
  const retryAfter = secondsUntil(retryAt, opened.now)
  return show({
    $case: 'factorCode',
    value: { loginName, way: wayOf(kind), error, retryAfter, ways, mayPassOver: false, trustDays: 0 },
  })
}

/** What the script of the page that is shown asks the browser for. */
export async function recoveryPrompt(
  context: Context,
  opened: Opened,
  begun: RecoveryByPasskey,
  call: Call,
): Promise<PasskeyPrompt | undefined> {
  const found = opened.browser.isPresent ? await findRecovering(context, begun, call) : undefined
  if (!found) return undefined
  return found.isProved ? creationPrompt(context, opened, found) : checkPrompt(context, opened, found)
}

async function checkPrompt(
  { config, keys, sql }: Context,
  opened: Opened,
  { begun, human }: Recovering,
): Promise<PasskeyPrompt> {
  const { id } = relyingParty(config)
  const own = (human.passkeys ?? []).filter(({ rpId }) => rpId === id)
  const binding = bindingOf('recovery-check', opened, begun)
  const challenge = makeChallenge(keys, binding, { verifies: false }, await readNow(sql))
  return {
    options: JSON.stringify(requestOptions(id, challenge, 'preferred', own)),
    unknownCredentialId: opened.row.progress.unknownCredential ?? '',
  }
}

// Undefined: the person has too many.
async function creationPrompt(
  context: Context,
  opened: Opened,
  { begun, user: { organizationId, state } }: Recovering,
): Promise<PasskeyPrompt | undefined> {
  const binding = bindingOf('recovery', opened, begun)
  const options = await beginRegistration(context, { organizationId, state }, binding, { secondOnly: false }).catch(
    (error: unknown) => {
      if (!(error instanceof RosterError) || error.code === codes.UNAVAILABLE) throw error
      return undefined
    },
  )
  return options && { options: JSON.stringify(options), unknownCredentialId: '' }
}

function bindingOf<For extends 'recovery' | 'recovery-check'>(
  purpose: For,
  { row, browser }: Pick<Opened, 'row' | 'browser'>,
  { userId, codeId }: RecoveryByPasskey,
): { for: For; requestId: string; browserId: string; userId: string; codeId: string } {
  return { for: purpose, requestId: row.id, browserId: browser.id, userId, codeId }
}

/**
 * Checks a second factor beside the code, and keeps in the request that it was right. The errors of the factor; CODE_INVALID
 * where the code counts no more.
 */
export async function proveBesideCode(
  context: Context,
  { row, browser }: Opened,
  begun: RecoveryByPasskey,
  { kind, text }: { kind: SecondFactorKind; text: string },
  call: Call,
): Promise<void> {
  const { userId, codeId } = begun
  const found = await findRecovering(context, begun, call)
  if (!found?.kinds.includes(kind)) throw over()
  const proved = await factors[kind].check(
    context,
    {
      loginName: '',
      find: async () => found.user,
      text,
      session: { id: '', browserId: browser.id, passwordCodeId: codeId },
      asked: { binding: bindingOf('recovery-check', { row, browser }, begun) },
    },
    call,
  )
  if (proved.check?.byLink && found.policy.byHandAlone) throw refused('wrong')
  const { requestId, deadline } = call
  await context.store.execute({
    aggregate: passwordCodeKey(userId),
    reads: { user: userKey(userId) },
    call: { caller: { userId }, requestId, deadline },
    decide({ state }: Aggregate<PasswordCode>, now, { user }): Decision<PasswordCodeEvent> {
      const human = isActive(user.state) && proved.holds(user.state as User) ? user.state?.human : undefined
      if (!human || !isLiving(codeId, human, state, now)) throw over()
      const second = { kind, setUp: setUpOf(user.state!, kind), at: now.toISOString() }
      const { chosen, asksName, keep, recovery } = row.progress
      const progress: Progress = { chosen, asksName, recovery: { ...recovery!, passkey: { ...begun, second } } }
      return {
        events: [{ type: 'factor.checked', payload: { codeId, kind } }],
        writes: [...proved.writes, advance(context.keys, row.id, { ...progress, ...(keep !== undefined && { keep }) })],
        guards: [...proved.guards, stillOpen(row.id)],
        uses: proved.uses,
        ...(proved.claims && { claims: proved.claims }),
        answer: undefined,
      }
    },
  })
  await proved.settle?.()
}

/** Adds the passkey by the code, which is used up, and the second factor. Throws `refused`; those of `finishRegistration`. */
export async function addInPlace(
  context: Context,
  opened: Opened,
  begun: RecoveryByPasskey,
  { credential, name }: { credential: string; name: string },
  call: Call,
): Promise<{ user: LoginUser; passkeyId: string }> {
  const { userId, codeId, second } = begun
  const found = await findRecovering(context, begun, call)
  if (!found?.isProved || !second) throw over()
  if (!found.policy.allowPasskeys) throw over()
  const { passkeyId } = await finishRegistration(
    context,
    {
      userId,
      credential,
      name,
      binding: bindingOf('recovery', opened, begun),
      secondOnly: false,
      recovery: {
        codeId,
        holds: (user, code, now) =>
          user.human !== undefined && isLiving(codeId, user.human, code, now) && stands(second, user, now),
      },
      isOwn: true,
    },
    { ...call, caller: { ...anonymous, userId } },
  )
  return { user: (await findUserById(context, userId))!, passkeyId }
}

function over(): RosterError {
  return new RosterError('INVALID_ARGUMENT', 'CODE_INVALID', 'The code counts no more, or what was proved beside it.')
}

import { canonicalName } from '#lib/search/canonical-name'
import type { Gender } from '#gen/roster/users/v1/user'
import { evolvePasskeys, type Passkey, type PasskeyEvent } from './passkeys.ts'
import { evolveLinks, type Link, type LinkEvent } from './links.ts'
import { type Code, type CodeCause, isAlive, type NewCode, type VouchedOn } from './code.ts'

export type HumanEvent =
  /** `codeId`: of a person who registered, the code that verified the address. */
  | {
      type: 'human.added'
      payload: {
        userName: string
        profile: Profile
        email: string
        isVerified: boolean
        vouchedOn?: VouchedOn
        codeId?: string
        setBy?: string
        /** As of password.changed. */
        passwordChangeRequired?: true
      }
    }
  | { type: 'profile.changed'; payload: Profile }
  /**
   * `codeId`: the code that proved the right to it; `byMail`: it was mailed. `keptSessionId`: the session that set it.
   * `changeRequired`: somebody else set it, and the person has to choose another one. `byLink`: as of a passkey.
   */
  | {
      type: 'password.changed'
      payload: { codeId?: string; byMail?: true; keptSessionId?: string; changeRequired?: true; byLink?: true }
    }
  | { type: 'browser.trusted'; payload: { trustId: string; kind: SecondFactorKind; days: number; sessionId: string } }
  | { type: 'browser.distrusted'; payload: { trustId: string } }
  | { type: 'factor.added' | 'factor.removed' | 'factor.unlocked'; payload: { kind: SecondFactorKind } }
  /** `vouched`: another user, with permission, says that the address is the user's. */
  | {
      type: 'email.changed'
      payload: {
        email: string
        isVerified: boolean
        vouched?: boolean
        setBy?: string
        vouchedOn?: VouchedOn
        /** The notice whose link took a change back. */
        takenBack?: string
      }
    }
  /** `codeId`: the code that verified it. Missing where a caller with permission did. */
  | {
      type: 'email.verified'
      /** `own`: the user did, signed in, where the account was made by a provider. */
      payload: { codeId?: string; vouched?: boolean; setBy?: string; vouchedOn?: VouchedOn; own?: true }
    }
  /** A mail to the former address, which announces the change. */
  | {
      type: 'email.notice.requested'
      payload: { noticeId: string; expiresAt: string; takeBackUntil?: string; email?: string; setBy?: string }
    }
  /** A code to be mailed. */
  | {
      type: 'email.code.requested'
      payload: NewEmailCode & { urlTemplate?: string; cause: CodeCause; applicationName?: string }
    }
  /** A code that was given to the caller. */
  | { type: 'email.code.returned'; payload: NewEmailCode }
  /** The code of an invitation was used up, and there is no password yet. */
  | { type: 'invite.code.used'; payload: { codeId: string } }
  /** A wrong code was tried. */
  | { type: 'email.code.rejected'; payload: { codeId: string } }
  | PasskeyEvent
  | LinkEvent
  /** Stored by earlier versions. Today these are events of `CodeMail`. */
  | { type: 'email.code.sent'; payload: { codeId: string } }
  | { type: 'email.code.failed'; payload: { codeId: string; failure: string } }

/** What a person can prove beside a password. */
export type SecondFactorKind = 'totp' | 'otp-email' | 'recovery-code' | 'passkey'

/** `vouchedOn`: it proves no more than the word of the caller who sees the code. `invitedBy`: it invites to choose a password. */
type NewEmailCode = NewCode & { vouchedOn?: VouchedOn; invitedBy?: string }

/** The invitation of a person without a password. Its code is an email code, too, until another one is made. */
export interface Invite extends Code {
  invitedBy: string
  applicationName?: string
  vouchedOn?: VouchedOn
}

type EmailChange = Extract<HumanEvent, { type: 'email.changed' }>['payload']

export interface Profile {
  firstName: string
  lastName: string
  nickName?: string
  displayName: string
  preferredLanguage: string
  gender: Gender
}

/** A former address, which was proved, and the notice to it. */
export interface TakeBack {
  noticeId: string
  email: string
  /** RFC 3339. */
  until: string
  /** Who else stands for the address, as of Human. */
  setBy?: string
  /** Those that the user had then. Missing: none. */
  secondFactors?: SecondFactorKind[]
  /** As of Human, then. */
  factorsAdded?: Human['factorsAdded']
  /** The ids of those that the user had then. Missing: none. */
  passkeyIds?: string[]
  /** The links of then, by their times. Missing: none. */
  linkedAt?: string[]
}

/** So many changes can be taken back at a time: the first ones, which others cannot push out by further ones. */
const mostTakeBacks = 10

/** A browser in which a person is not asked for a second factor again. */
export interface TrustedBrowser {
  /** Of the person and a secret of the browser. */
  id: string
  /** What was checked there. */
  kind: SecondFactorKind
  /** As the policy allowed then. */
  days: number
  /** RFC 3339. */
  at: string
  /** The session in which it was checked. */
  sessionId: string
}

const mostTrusted = 20

export interface Human {
  profile: Profile
  email: string
  isVerified: boolean
  /** How often the address was changed, or its verification taken back. Missing: never. */
  emailChanges?: number
  /** Since when it is this address, RFC 3339. Missing: from the beginning. */
  emailSince?: string | undefined
  /** Another user, with permission, verified the address. */
  emailVouched?: boolean | undefined
  /** Who else stands for the address. Missing: the user, or whose role covers every other. */
  emailSetBy?: string | undefined
  code?: Code | undefined
  /** Missing where the person is not invited. */
  invite?: Invite | undefined
  /** Changes of the address that can be taken back, the oldest first. Missing: none. */
  takeBacks?: TakeBack[]
  /** How often the password was changed. Missing: never. */
  passwordChanges?: number
  /** How often a forgotten password was answered by a new passkey. Missing: never. */
  passkeyRecoveries?: number
  /** The mailbox alone proved the right to the present password. */
  passwordByMail?: true | undefined
  /** The present password was set as a passkey with `byLink`. */
  passwordByLink?: true | undefined
  /** A password or a passkey was set up so at some time: a session by it outlives it. */
  wasSetUpByLink?: true
  /** Who else has set up passkeys of the user, the last ones. Sessions by these outlive them, too. */
  setters?: string[]
  /** Somebody else set the present password, and a sign-in by it asks for another one. */
  passwordMustChange?: true | undefined
  /** Those that the user is asked for, whatever the policy. Missing: none. */
  secondFactors?: SecondFactorKind[]
  /** How often each was added: another number means another secret. */
  factorsAdded?: Partial<Record<SecondFactorKind, number>>
  /** Missing: none. */
  passkeys?: Passkey[]
  /** Identity providers that sign the person in. Missing: none. */
  links?: Link[]
  /** Browsers that stand in for a second factor, the last one at the end. Missing: none. */
  trustedBrowsers?: TrustedBrowser[] | undefined
  /** When the counted codes were mailed, RFC 3339; only those of the last hour. */
  ownChanges: string[]
  resends: string[]
  /** The same of invitations that replaced one. Missing: none. */
  invites?: string[]
}

export function evolveHuman(human: Human, event: HumanEvent, at: Date): Human {
  const next = evolved(human, event, at)
  return withMarks(endsTrust(human, event) ? withoutTrust(next) : next, event)
}

const mostSetters = 20

function withMarks(human: Human, event: HumanEvent): Human {
  if (event.type !== 'passkey.added' && event.type !== 'password.changed') return human
  const setBy = event.type === 'passkey.added' ? event.payload.setBy : undefined
  return {
    ...human,
    ...(event.payload.byLink && { wasSetUpByLink: true }),
    ...(setBy && { setters: [...new Set([...(human.setters ?? []), setBy])].slice(-mostSetters) }),
  }
}

// What a person proves has changed, or may be another's.
function endsTrust({ email }: Human, event: HumanEvent): boolean {
  if (event.type === 'email.changed') return event.payload.email !== email
  return ['password.changed', 'factor.added', 'factor.removed', 'passkey.added', 'passkey.removed'].includes(event.type)
}

/** No browser stands in for a second factor any more. */
export function withoutTrust(human: Human): Human {
  return human.trustedBrowsers ? { ...human, trustedBrowsers: undefined } : human
}

function evolved(human: Human, event: HumanEvent, at: Date): Human {
  switch (event.type) {
    case 'profile.changed':
      return { ...human, profile: event.payload }
    case 'password.changed':
      return {
        ...human,
        passwordChanges: (human.passwordChanges ?? 0) + 1,
        // Its code may still prove the address.
        ...(human.invite && { invite: undefined }),
        ...((human.passwordByMail || event.payload.byMail) && { passwordByMail: event.payload.byMail }),
        ...((human.passwordByLink || event.payload.byLink) && { passwordByLink: event.payload.byLink }),
        ...((human.passwordMustChange || event.payload.changeRequired) && {
          passwordMustChange: event.payload.changeRequired,
        }),
      }
    case 'factor.added':
      return withFactor(human, event.payload.kind)
    case 'factor.removed':
      return { ...human, secondFactors: (human.secondFactors ?? []).filter((kind) => kind !== event.payload.kind) }
    case 'passkey.added': {
      const isRecovery = event.payload.passwordCodeId !== undefined
      const passkeys = evolvePasskeys(human.passkeys ?? [], event, at)
      return { ...human, passkeys, ...(isRecovery && { passkeyRecoveries: (human.passkeyRecoveries ?? 0) + 1 }) }
    }
    case 'browser.trusted': {
      const { trustId: id, ...trusted } = event.payload
      const others = (human.trustedBrowsers ?? []).filter((one) => one.id !== id)
      return { ...human, trustedBrowsers: [...others, { id, ...trusted, at: at.toISOString() }].slice(-mostTrusted) }
    }
    case 'browser.distrusted':
      return { ...human, trustedBrowsers: human.trustedBrowsers?.filter(({ id }) => id !== event.payload.trustId) }
    case 'passkey.renamed':
    case 'passkey.verified':
    case 'passkey.removed':
      return { ...human, passkeys: evolvePasskeys(human.passkeys ?? [], event, at) }
    case 'idp.linked':
    case 'idp.unlinked':
    case 'idp.followed':
      return { ...human, links: evolveLinks(human.links ?? [], event, at) }
    case 'email.changed':
      return changeEmail(human, event.payload, at)
    case 'email.verified':
      return verifyAddress(human, event.payload)
    case 'email.notice.requested':
      return withTakeBack(human, event.payload, at)
    case 'email.code.requested': {
      const { cause, invitedBy, applicationName, ...facts } = event.payload
      const code: Code = { ...facts, delivery: 'pending', wrongTries: 0 }
      const next = withInvite({ ...human, code }, code, { invitedBy, applicationName }, at)
      if (cause === 'own-change')
        return { ...next, ownChanges: [...withinAnHour(human.ownChanges, at), at.toISOString()] }
      if (cause === 'resend') return { ...next, resends: [...withinAnHour(human.resends, at), at.toISOString()] }
      return next
    }
    case 'email.code.returned': {
      const { invitedBy, ...facts } = event.payload
      const code: Code = { ...facts, delivery: 'returned', wrongTries: 0 }
      return withInvite({ ...human, code }, code, { invitedBy }, at)
    }
    case 'invite.code.used':
      return { ...withCode(human, event.payload.codeId, () => undefined), invite: undefined }
    case 'email.code.rejected':
      return withCode(human, event.payload.codeId, (code) => ({ ...code, wrongTries: code.wrongTries + 1 }))
    case 'email.code.sent':
      return withCode(human, event.payload.codeId, (code) => ({ ...code, delivery: 'sent' }))
    case 'email.code.failed':
      return withCode(human, event.payload.codeId, (code) => ({ ...code, delivery: 'failed' }))
    default:
      return human
  }
}

function withInvite(
  human: Human,
  code: Code,
  { invitedBy, applicationName }: { invitedBy?: string | undefined; applicationName?: string | undefined },
  at: Date,
): Human {
  if (invitedBy === undefined) return human
  const invite: Invite = { ...code, invitedBy, ...(applicationName !== undefined && { applicationName }) }
  const invites = human.invite && [...withinAnHour(human.invites ?? [], at), at.toISOString()]
  return { ...human, invite, ...(invites && { invites }) }
}

// New recovery codes come in place of those before.
function withFactor({ secondFactors = [], factorsAdded = {}, ...human }: Human, kind: SecondFactorKind): Human {
  const others = secondFactors.filter((other) => other !== kind)
  return {
    ...human,
    secondFactors: [...others, kind],
    factorsAdded: { ...factorsAdded, [kind]: (factorsAdded[kind] ?? 0) + 1 },
  }
}

/**
 * Whether a person without a password may still choose one by this invitation. With a factor that the mailbox does not prove, it
 * would be the mailbox that adds another one.
 */
export function isOpenInvite(human: Human | undefined, now: Date): human is Human & { invite: Invite } {
  return isAlive(human?.invite, now) && !hasOwnFactor(human)
}

/** Whether a person has a factor that the mailbox does not prove: a passkey, a security key, an app, an identity provider. */
export function hasOwnFactor({ passkeys = [], secondFactors = [], links = [] }: Partial<Human> = {}): boolean {
  return passkeys.length > 0 || links.length > 0 || secondFactors.some((kind) => kind !== 'otp-email')
}

function withTakeBack(
  human: Human,
  {
    noticeId,
    takeBackUntil: until,
    email,
    setBy,
  }: { noticeId: string; takeBackUntil?: string; email?: string; setBy?: string },
  at: Date,
): Human {
  if (until === undefined || email === undefined) return human
  const living = livingTakeBacks(human, at)
  const { secondFactors, factorsAdded, passkeys, links } = human
  const passkeyIds = passkeys?.map(({ id }) => id)
  const takeBack = {
    noticeId,
    email,
    until,
    ...(setBy && { setBy }),
    ...(secondFactors && { secondFactors, factorsAdded: { ...factorsAdded } }),
    ...(passkeyIds && { passkeyIds }),
    ...(links && { linkedAt: links.map((link) => link.linkedAt) }),
  }
  return { ...human, takeBacks: [...living, takeBack].slice(0, mostTakeBacks) }
}

/** A change of this notice that can still be taken back. */
export function findTakeBack(human: Human | undefined, noticeId: string, now: Date): TakeBack | undefined {
  return livingTakeBacks(human, now).find((one) => one.noticeId === noticeId)
}

/** Changes of the address that can still be taken back, the oldest first. */
export function livingTakeBacks(human: Human | undefined, now: Date): TakeBack[] {
  return (human?.takeBacks ?? []).filter(({ until }) => Date.parse(until) > now.getTime())
}

function changeEmail(human: Human, { email, isVerified, vouched, setBy, takenBack }: EmailChange, at: Date): Human {
  const isNew = email !== human.email
  const isTakenBack = takenBack !== undefined
  return {
    ...human,
    email,
    isVerified,
    emailVouched: vouched,
    emailSetBy: setBy,
    emailChanges: (human.emailChanges ?? 0) + 1,
    ...(human.invite && email !== human.email && { invite: undefined }),
    // A provider that moved it would move it again.
    ...(isTakenBack && human.links && { links: human.links.map((link) => ({ ...link, keepsAddress: true as const })) }),
    // An address that is taken back can recover the account at once.
    ...(isNew && { emailSince: isTakenBack ? undefined : at.toISOString() }),
    ...(vouched || (isNew && setBy !== undefined && !isTakenBack)
      ? noTakeBacks(human)
      : takeBacksBefore(human, ({ noticeId }) => noticeId === takenBack)),
    code: undefined,
  }
}

function verifyAddress(
  human: Human,
  { codeId, vouched, setBy, own }: { codeId?: string; vouched?: boolean; setBy?: string; own?: true },
): Human {
  const { emailVouched, emailSetBy, code } = human
  const by = { emailVouched: vouched ?? emailVouched, emailSetBy: setBy ?? emailSetBy }
  const isByMail =
    code !== undefined && code.codeId === codeId && code.delivery !== 'returned' && code.askedBy === undefined
  const takeBacks = vouched ? noTakeBacks(human) : isByMail && returnTo(human)
  const links = own && human.links && { links: human.links.map((link) => ({ ...link, unproved: undefined })) }
  return { ...human, isVerified: true, ...by, ...takeBacks, ...links, code: undefined }
}

// Another user, with permission, put the address right: whoever had one before does not undo that.
function noTakeBacks({ takeBacks }: Human): Partial<Human> {
  return takeBacks === undefined ? {} : { takeBacks: [] }
}

// Earlier changes can still be taken back, and none since.
function takeBacksBefore({ takeBacks = [] }: Human, isThis: (one: TakeBack) => boolean): Partial<Human> {
  const index = takeBacks.findIndex(isThis)
  return index < 0 ? {} : { takeBacks: takeBacks.slice(0, index) }
}

// The user is back at a former address, as by its link: it recovers the account as it did.
function returnTo(human: Human): Partial<Human> {
  const left = takeBacksBefore(human, ({ email }) => canonicalName(email) === canonicalName(human.email))
  return left.takeBacks ? { ...left, emailSince: undefined } : {}
}

function withCode(human: Human, codeId: string, change: (code: Code) => Code | undefined): Human {
  const { code, invite } = human
  return {
    ...human,
    ...(code?.codeId === codeId && { code: change(code) }),
    ...(invite?.codeId === codeId && { invite: { ...invite, ...change(invite) } }),
  }
}

/** Why a code that is mailed as a second factor proves nothing. Undefined: it does. */
export function whyMailProvesNothing(human: Human | undefined): 'not-verified' | 'password-by-mail' | undefined {
  if (!human?.isVerified) return 'not-verified'
  // The mailbox alone would prove both factors.
  return human.passwordByMail ? 'password-by-mail' : undefined
}

/** The times (RFC 3339) that are less than an hour old. */
export function withinAnHour(times: string[], now: Date): string[] {
  return times.filter((time) => Date.parse(time) > now.getTime() - 3_600_000)
}

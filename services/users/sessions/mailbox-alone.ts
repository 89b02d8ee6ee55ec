import { RosterError } from '#lib/errors'
import type { Human } from '../directory/events/human.ts'
import type { CheckedFactor } from './login-policy/login-policy.ts'

/**
 * A mailed code was the first factor, or gave the person the password, and nothing else was proved: that changes no factor,
 * or who has the mailbox would soon have all of them.
 */
export function provedMailboxAlone(human: Human | undefined, checked: readonly Pick<CheckedFactor, 'kind'>[]): boolean {
  const isByMail = ({ kind }: Pick<CheckedFactor, 'kind'>) =>
    kind === 'mailed-code' || (kind === 'password' && human?.passwordByMail === true)
  return checked.some(isByMail) && checked.every((factor) => isByMail(factor) || factor.kind === 'otp-email')
}

export function mailboxAlone(): RosterError {
  return new RosterError(
    'FAILED_PRECONDITION',
    'MAILBOX_ALONE',
    'The session stands on a mailed code alone, which changes no factor.',
  )
}

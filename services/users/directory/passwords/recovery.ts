import type { Aggregate } from '#lib/eventstore/aggregate'
import type { Decision } from '#lib/eventstore/command'
import type { Context } from '../../context.ts'
import { deriveCode, newCode } from '../email/code.ts'
import { mailUses } from '../email/mail-uses.ts'
import type { Human } from '../events/human.ts'
import { type PasswordCode, type PasswordCodeEvent, revisionOf } from '../events/password-code.ts'

/**
 * Whether the address is the one that the account began with, and nobody ever verified it, or took that back. A mailed code
 * then proves it.
 */
export function isNeverVerified({ isVerified, emailChanges = 0 }: Human): boolean {
  return !isVerified && emailChanges === 0
}

/** A user who gets a code, and how. */
export interface Recovery {
  codeId: string
  human: Human
  /** The code is given to the caller; else it is mailed. */
  returned: boolean
  urlTemplate?: string | undefined
  /** `stranger`: the caller has no permission. */
  by: 'code' | 'stranger'
  askedBy?: string
}

/** Everybody whose roles must cover those of the user when a code is used: they can see it. */
export function seersOf({ askedBy, delivery }: Pick<PasswordCode, 'askedBy' | 'delivery'>, human: Human) {
  return delivery === 'returned' ? [askedBy] : [askedBy, human.emailSetBy]
}

/** The decision to make a code, and the code itself where the caller gets it. */
export function makeCode(
  { config, keys }: Pick<Context, 'config' | 'keys'>,
  { id: userId, organizationId }: Pick<Aggregate, 'id' | 'organizationId'>,
  { codeId, human, returned, urlTemplate, by, askedBy }: Recovery,
  now: Date,
): Decision<PasswordCodeEvent, string | undefined> {
  const seen = (returned || urlTemplate !== undefined) && askedBy !== undefined
  const facts = newCode(codeId, keys, config.PASSWORD_CODE_LIFETIME, now)
  const code = { ...facts, round: revisionOf(human), ...(seen && { askedBy }) }
  if (returned) {
    const answer = deriveCode(keys, code, userId, human.email, 'password-code')
    return { organizationId, events: [{ type: 'returned', payload: code }], answer }
  }
  const payload = { ...code, ...(urlTemplate !== undefined && { urlTemplate }) }
  const uses = mailUses({ config, keys }, human.email, organizationId, by)
  return { organizationId, events: [{ type: 'requested', payload }], uses, answer: undefined }
}

import { RosterError } from '#lib/errors'
import { holds } from '#lib/rpc/caller'
import type { Call } from '#lib/rpc/headers'
import { isBesideFormer } from '#lib/schema/releases'
import type { Context } from '../../context.ts'
import { canonicalAddress } from '../email/address.ts'
import { templateOf, type Verification } from '../email/verification.ts'
import type { VouchedOn } from '../events/code.ts'
import type { User } from '../events/user.ts'
import { readProof } from './read-proofs.ts'

/** Where a caller's word on an address counts beyond the organization of the person. */
export type Vouch = (email: string) => VouchedOn | undefined

/**
 * What the caller's word on addresses of people of an organization is worth. It counts on the instance if the caller has
 * user.write there, or for addresses of a domain that the instance gave the organization. Asks for nothing where none
 * of the choices needs a word: a code that only the mailbox gets proves by itself.
 */
export async function vouching(
  { sql, grants }: Pick<Context, 'sql' | 'grants'>,
  organizationId: string,
  verifications: Verification[],
  call: Call,
): Promise<Vouch> {
  if (!verifications.some(needsWord)) return nowhere
  // A replica of the former release could not publish an event that says so.
  if (await isBesideFormer(sql)) return nowhere
  if (holds(call.caller, 'user.write')) return () => 'instance'
  const domain = await ownedDomain(grants, organizationId, call)
  return (email) => (domain !== '' && domainOf(email) === domainOf(`@${domain}`) ? 'instance' : undefined)
}

/** The same for an address of a user; and whether the present one stands on the word of the organization alone. */
export async function vouchingFor(
  context: Pick<Context, 'sql' | 'grants' | 'store' | 'personal'>,
  { userId, verification }: { userId: string; verification?: Verification },
  call: Call,
): Promise<{ vouch: Vouch; isOwnWord: boolean }> {
  const noProof = { vouch: nowhere, isOwnWord: false }
  if (!needsWord(verification)) return noProof
  // Whose word counts everywhere: with a code, the person's organization and proof do not matter.
  if (verification?.$case !== 'isVerified' && holds(call.caller, 'user.write'))
    return { ...noProof, vouch: await vouching(context, '', [verification], call) }
  const user = await context.store.load<User>('user', userId)
  if (!user) return noProof
  const vouch = await vouching(context, user.organizationId, [verification], call)
  return { vouch, isOwnWord: (await readProof(context, userId, user.state.human)) === 'organization' }
}

const nowhere: Vouch = () => undefined

function needsWord(verification: Verification): boolean {
  return verification?.$case === 'isVerified'
    ? verification.value
    : verification?.$case === 'returnCode' || templateOf(verification) !== undefined
}

async function ownedDomain(grants: Context['grants'], organizationId: string, call: Call): Promise<string> {
  try {
    return (await grants.lookupOrganization({ by: { $case: 'organizationId', value: organizationId } }, call))
      .ownedDomain
  } catch (error) {
    if (error instanceof RosterError && error.reason === 'ORGANIZATION_NOT_FOUND') return ''
    throw error
  }
}

function domainOf(email: string): string {
  const address = canonicalAddress(email)
  return address.slice(address.lastIndexOf('@') + 1)
}

import { isDeepStrictEqual } from 'node:util'
import type { ProviderClaims } from '#gen/roster/idp/v1/internal_service'
import { RosterError } from '#lib/errors'
import type { Aggregate } from '#lib/eventstore/aggregate'
import type { Decision } from '#lib/eventstore/command'
import { anonymous } from '#lib/rpc/caller'
import type { Call } from '#lib/rpc/headers'
import { isBesideFormer } from '#lib/schema/releases'
import type { Context } from '../../../context.ts'
import { checkAddress, sameAddress } from '../../../directory/email/address.ts'
import type { User, UserEvent } from '../../../directory/events/user.ts'
import type { LoginUser } from '../../../directory/login-names/login-user.ts'
import { meantName } from '../../../directory/meant-name.ts'
import { setEmail } from '../../../directory/operations/user/set-email.ts'
import { findHolder } from '../../../directory/login-names/address-holder.ts'
import { saidProfile } from './said-profile.ts'

/**
 * Takes over what a provider says of a person who has signed in there, where its record has that. Whatever is refused, or
 * fails, the sign-in goes on. `isComplete`: the sign-in lacks no factor. Otherwise the address stays: a code that is mailed
 * there may be the factor that is lacking.
 */
export async function followAttributes(
  context: Context,
  user: Pick<LoginUser, 'userId' | 'organizationId' | 'state'>,
  { idpId, isAutoUpdate, claims }: { idpId: string; isAutoUpdate: boolean; claims: ProviderClaims },
  isComplete: boolean,
  call: Call,
): Promise<void> {
  // A replica of the former release could not publish the event that names the provider.
  if (!isAutoUpdate || (await isBesideFormer(context.sql))) return
  const { userId } = user
  const own: Call = { ...call, caller: { ...anonymous, userId }, organizationId: user.organizationId }
  try {
    const followed = { idpId, email: meantName(claims.email), isComplete }
    const address = await followAddress(context, user, followed, own)
    const said = saidProfile(claims)
    await context.store.execute({
      aggregate: { type: 'user', id: userId },
      call: { caller: own.caller, requestId: call.requestId, deadline: call.deadline },
      decide: ({ state }: Aggregate<User>) => decide(state, { idpId, said, address }),
      respond: () => undefined,
    })
  } catch (error) {
    context.log.warn({ idpId, userId, err: error }, 'what an identity provider says of a user was not taken over')
  }
}

/** What became of the address. */
type Followed = 'same' | 'changed' | { refusal: string }

// By the rules of SetEmail, as if the person had typed it: a code that is mailed there proves it, and nothing else.
async function followAddress(
  context: Context,
  { userId, organizationId, state }: Pick<LoginUser, 'userId' | 'organizationId' | 'state'>,
  { idpId, email, isComplete }: { idpId: string; email: string; isComplete: boolean },
  own: Call,
): Promise<Followed> {
  const present = state.human?.email
  if (present === undefined || email === '' || sameAddress(present, email)) return 'same'
  if (state.human?.links?.some((link) => link.idpId === idpId && link.keepsAddress)) return { refusal: 'TAKEN_BACK' }
  // Whoever has the account there alone waits for a sign-in of the person, and gets the codes from then on.
  if (!isComplete || state.human?.secondFactors?.includes('otp-email')) return { refusal: 'FACTOR_REQUIRED' }
  if (checkAddress(email).length > 0 || !/^[^@ ]+@[^@ ]+$/.test(email)) return { refusal: 'INVALID_ARGUMENT' }
  // An address that another account has proved stays with it, in whichever organization.
  const holder = await findHolder(context, { email, organizationId, anywhere: true })
  if (holder !== undefined && holder !== userId) return { refusal: 'EMAIL_TAKEN' }
  try {
    await setEmail.handle(context, { userId, email, verification: undefined }, own)
    return 'changed'
  } catch (error) {
    if (!(error instanceof RosterError)) throw error
    return { refusal: error.reason }
  }
}

function decide(
  state: User | undefined,
  { idpId, said, address }: { idpId: string; said: ReturnType<typeof saidProfile>; address: Followed },
): Decision<UserEvent> {
  const { human } = state ?? {}
  const link = human?.links?.find((one) => one.idpId === idpId)
  // The person was removed meanwhile, or the link.
  if (!human || !link) return { events: [], answer: undefined }
  const profile = { ...human.profile, ...said }
  const isSame = isDeepStrictEqual(profile, human.profile)
  const refusal = typeof address === 'object' ? address.refusal : undefined
  // A refusal that comes again says nothing new.
  if (isSame && address !== 'changed' && (refusal === undefined || refusal === link.refusal))
    return { events: [], answer: undefined }
  return {
    events: [
      ...(isSame ? [] : [{ type: 'profile.changed' as const, payload: profile }]),
      { type: 'idp.followed', payload: { idpId, ...(refusal !== undefined && { refusal }) } },
    ],
    answer: undefined,
  }
}

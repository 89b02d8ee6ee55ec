import type {
  AddIdentityProviderRequest,
  IDPOptions,
  ReplaceIdentityProviderRequest,
} from '#gen/roster/idp/v1/provider_service'
import type { Idp, IdpEvent, IdpSettings } from '../vocabulary.ts'

type Request = AddIdentityProviderRequest | ReplaceIdentityProviderRequest

/** The settings that every provider has, but how its button looks. */
export function settingsOf({ name, options }: Request): Omit<IdpSettings, 'stylingType'> {
  const { isLinkingAllowed = false, isCreationAllowed = false, isAutoCreation = false } = options ?? {}
  return {
    name,
    autoRegister: isCreationAllowed,
    refusesLinking: !isLinkingAllowed,
    asksFirst: isCreationAllowed && !isAutoCreation,
  }
}

/** The options of a record, as `settingsOf` and `updateChange` take them. */
export function optionsOf({ refusesLinking, autoRegister, asksFirst, claims }: Idp): IDPOptions {
  return {
    isLinkingAllowed: !refusesLinking,
    isCreationAllowed: autoRegister,
    isAutoCreation: autoRegister && !asksFirst,
    isAutoUpdate: claims?.isAutoUpdate ?? false,
  }
}

/** The secret that a request brings; undefined where it brings none. */
export function secretOf({ clientSecret, privateKey }: Request): string | undefined {
  return clientSecret || (privateKey.length > 0 ? Buffer.from(privateKey).toString() : undefined)
}

/** Whether attributes follow at each sign-in. What else becomes of claims stays. */
export function updateChange(idp: Idp | undefined, { options }: Request): IdpEvent[] {
  const before = idp?.claims ?? { isAutoUpdate: false }
  const isAutoUpdate = options?.isAutoUpdate ?? false
  if (isAutoUpdate === before.isAutoUpdate) return []
  return [{ type: 'claims.set', payload: { claims: { ...before, isAutoUpdate } } }]
}

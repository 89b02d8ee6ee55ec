import type { UsersLoginPolicySettings } from '#gen/console/api'
import { useOrganization } from '../address/place.ts'
import { call, write } from '../api/call.ts'
import { ApiError } from '../api/errors.ts'
import { readAgain, useRead } from '../api/queries.ts'
import { type Place, useMayThere, usePlace } from './place.ts'

export interface Listed {
  /** Providers whose buttons the sign-in page shows. */
  shown: string[]
  /** Providers that the policy lists, also those without effect. */
  listed: string[]
  /** The organization has no list of its own. */
  isInherited: boolean
}

/** What the sign-in policy says of providers. Undefined: not read yet, or the caller may not read it. */
export function useListed(): Listed | undefined {
  const place = usePlace()
  const { data } = useRead(place.getPolicy, {}, { enabled: useMayThere('readPolicy') === true })
  return data && listedOf(data)
}

/** Lists a provider in the sign-in policy, or takes it out, and says whether the page shows it. Whatever else the policy says stays. */
export function useList(): (idpId: string, isWanted: boolean, canShow?: boolean) => Promise<boolean> {
  const place = usePlace()
  const organization = useOrganization()
  return async (idpId, isWanted, canShow = false) => {
    await setListed(place, organization, idpId, isWanted)
    const isShown = canShow && (await isSeen(place, organization, idpId))
    await readAgain()
    return isShown
  }
}

// What was added a moment ago is heard of within a second.
async function isSeen(place: Place, organization: string, idpId: string, tries = 5): Promise<boolean> {
  const { shown } = listedOf(await call(place.getPolicy, {}, { organization }))
  if (shown.includes(idpId) || tries === 1) return shown.includes(idpId)
  await new Promise((resolve) => setTimeout(resolve, 500))
  return isSeen(place, organization, idpId, tries - 1)
}

function listedOf({ policy, settings }: { policy?: { identityProviders?: string[] }; settings?: Settings }): Listed {
  const shown = policy?.identityProviders ?? []
  const own = settings?.identityProviders
  // Without a list of its own, an organization has that of the instance: its buttons stay beside a new one.
  return { shown, listed: own ? (own.idpIds ?? []) : shown, isInherited: own === undefined }
}

type Settings = UsersLoginPolicySettings

// The call replaces all settings, so a concurrent change has to be read first.
async function setListed(place: Place, organization: string, idpId: string, isWanted: boolean, tries = 3) {
  const read = await call(place.getPolicy, {}, { organization })
  const { allowExternalIdp: _, ...settings } = read.settings ?? {}
  const others = listedOf(read).listed.filter((id) => id !== idpId)
  const { domains = [] } = read.settings?.identityProviders ?? {}
  const identityProviders = {
    idpIds: isWanted ? [...others, idpId] : others,
    domains: isWanted ? domains : domains.filter((domain) => domain.idpId !== idpId),
  }
  const sequence = read.details?.sequence ?? '0'
  try {
    await write(place.updatePolicy, { settings: { ...settings, identityProviders } }, { organization, sequence })
  } catch (error) {
    const hasChanged = error instanceof ApiError && error.reason === 'SEQUENCE_MISMATCH'
    if (!hasChanged || tries === 1) throw error
    await setListed(place, organization, idpId, isWanted, tries - 1)
  }
}

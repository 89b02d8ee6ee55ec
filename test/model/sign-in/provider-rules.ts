/** An identity provider of Ada's organization, and what Ada is there. */
export interface Provider {
  /** Roster of the run reaches this machine. */
  isThere: boolean
  /** The login policy of the organization lists it. */
  isListed: boolean
  isActive: boolean
  /** Who comes for the first time gets an account; or may connect the one that they have. */
  registers: boolean
  connects: boolean
  /** Ada's account is connected. Each link counts for itself. */
  isLinked: boolean
  links: number
}

/** What began a session: a password, a sign-in at the provider by a link of Ada's, or both. */
export interface FirstFactors {
  password: boolean
  link: number | undefined
}

/** Seconds that the clock of a provider may be behind. */
export const tolerance = 10

export function newProvider(isThere: boolean): Provider {
  return { isThere, isListed: isThere, isActive: true, registers: false, connects: true, isLinked: false, links: 0 }
}

/** The policy of the organization. */
export const listing = (idpId: string, isListed: boolean) => ({
  settings: { allowRegister: true, identityProviders: { idpIds: isListed ? [idpId] : [] } },
})

interface Model {
  provider: Provider
}

export function serves({ provider }: Model): boolean {
  return provider.isListed && provider.isActive
}

/** Whether what began a session, or what an application got by it, still counts. */
export function hasFirst(model: Model, { first }: { first: FirstFactors }): boolean {
  const { isLinked, links } = model.provider
  return first.password || (serves(model) && isLinked && first.link === links)
}

/** Whether a page has the button. Of a person who is known, it has those of their links. */
export function isOffered(model: Model, { kind, person }: { kind: string; person: string | undefined }): boolean {
  if (!serves(model)) return false
  if (kind === 'password') return person === 'ada' && model.provider.isLinked
  return kind === 'sign in'
}

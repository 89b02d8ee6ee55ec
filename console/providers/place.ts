import { useLocation } from 'wouter-preact'
import { useHere } from '../address/place.ts'
import { useMay, useMayEverywhere } from '../api/queries.ts'

/** Whose identity providers are shown: the operations and permissions of the organization, or of the instance. */
export interface Place {
  search: typeof ofOrganization.search | typeof ofInstance.search
  get: typeof ofOrganization.get | typeof ofInstance.get
  addOidc: typeof ofOrganization.addOidc | typeof ofInstance.addOidc
  addOauth: typeof ofOrganization.addOauth | typeof ofInstance.addOauth
  addJwt: typeof ofOrganization.addJwt | typeof ofInstance.addJwt
  update: typeof ofOrganization.update | typeof ofInstance.update
  updateOidc: typeof ofOrganization.updateOidc | typeof ofInstance.updateOidc
  updateOauth: typeof ofOrganization.updateOauth | typeof ofInstance.updateOauth
  updateJwt: typeof ofOrganization.updateJwt | typeof ofInstance.updateJwt
  setClaims: typeof ofOrganization.setClaims | typeof ofInstance.setClaims
  setSessions: typeof ofOrganization.setSessions | typeof ofInstance.setSessions
  test: typeof ofOrganization.test | typeof ofInstance.test
  try: typeof ofOrganization.try | typeof ofInstance.try
  deactivate: typeof ofOrganization.deactivate | typeof ofInstance.deactivate
  reactivate: typeof ofOrganization.reactivate | typeof ofInstance.reactivate
  remove: typeof ofOrganization.remove | typeof ofInstance.remove
  events: typeof ofOrganization.events | typeof ofInstance.events
  getPolicy: typeof ofOrganization.getPolicy | typeof ofInstance.getPolicy
  updatePolicy: typeof ofOrganization.updatePolicy | typeof ofInstance.updatePolicy
  permissions: Permissions
  isOfInstance: boolean
}

interface Permissions {
  read: string
  write: string
  delete: string
  events: string
  readPolicy: string
  writePolicy: string
}

const ofOrganization = {
  search: 'roster.idp.v1.OrganizationIdentityProviderService/SearchOrganizationIDPs',
  get: 'roster.idp.v1.OrganizationIdentityProviderService/GetOrganizationIDP',
  addOidc: 'roster.idp.v1.OrganizationIdentityProviderService/AddOrganizationOIDCIDP',
  addOauth: 'roster.idp.v1.OrganizationIdentityProviderService/AddOrganizationOAuthIDP',
  addJwt: 'roster.idp.v1.OrganizationIdentityProviderService/AddOrganizationJWTIDP',
  update: 'roster.idp.v1.OrganizationIdentityProviderService/UpdateOrganizationIDP',
  updateOidc: 'roster.idp.v1.OrganizationIdentityProviderService/UpdateOrganizationIDPOIDCConfig',
  updateOauth: 'roster.idp.v1.OrganizationIdentityProviderService/UpdateOrganizationIDPOAuthConfig',
  updateJwt: 'roster.idp.v1.OrganizationIdentityProviderService/UpdateOrganizationIDPJWTConfig',
  setClaims: 'roster.idp.v1.OrganizationIdentityProviderService/SetOrganizationIDPClaims',
  setSessions: 'roster.idp.v1.OrganizationIdentityProviderService/SetOrganizationIDPSessions',
  test: 'roster.idp.v1.OrganizationIdentityProviderService/TestOrganizationIdentityProvider',
  try: 'roster.idp.v1.OrganizationIdentityProviderService/TryOrganizationIdentityProvider',
  deactivate: 'roster.idp.v1.OrganizationIdentityProviderService/DeactivateOrganizationIDP',
  reactivate: 'roster.idp.v1.OrganizationIdentityProviderService/ReactivateOrganizationIDP',
  remove: 'roster.idp.v1.OrganizationIdentityProviderService/RemoveOrganizationIDP',
  events: 'roster.notifier.v1.EventService/SearchOrganizationEvents',
  getPolicy: 'roster.users.v1.LoginPolicyService/GetLoginPolicy',
  updatePolicy: 'roster.users.v1.LoginPolicyService/UpdateLoginPolicy',
  permissions: {
    read: 'org.idp.read',
    write: 'org.idp.write',
    delete: 'org.idp.delete',
    events: 'event.read',
    readPolicy: 'policy.read',
    writePolicy: 'policy.write',
  },
  isOfInstance: false,
} as const

const ofInstance = {
  search: 'roster.idp.v1.IdentityProviderService/SearchIDPs',
  get: 'roster.idp.v1.IdentityProviderService/GetIDP',
  addOidc: 'roster.idp.v1.IdentityProviderService/AddOIDCIDP',
  addOauth: 'roster.idp.v1.IdentityProviderService/AddOAuthIDP',
  addJwt: 'roster.idp.v1.IdentityProviderService/AddJWTIDP',
  update: 'roster.idp.v1.IdentityProviderService/UpdateIDP',
  updateOidc: 'roster.idp.v1.IdentityProviderService/UpdateIDPOIDCConfig',
  updateOauth: 'roster.idp.v1.IdentityProviderService/UpdateIDPOAuthConfig',
  updateJwt: 'roster.idp.v1.IdentityProviderService/UpdateIDPJWTConfig',
  setClaims: 'roster.idp.v1.IdentityProviderService/SetIDPClaims',
  setSessions: 'roster.idp.v1.IdentityProviderService/SetIDPSessions',
  test: 'roster.idp.v1.IdentityProviderService/TestIdentityProvider',
  try: 'roster.idp.v1.IdentityProviderService/TryIdentityProvider',
  deactivate: 'roster.idp.v1.IdentityProviderService/DeactivateIDP',
  reactivate: 'roster.idp.v1.IdentityProviderService/ReactivateIDP',
  remove: 'roster.idp.v1.IdentityProviderService/RemoveIDP',
  events: 'roster.notifier.v1.EventService/SearchEvents',
  getPolicy: 'roster.users.v1.LoginPolicyService/GetInstanceLoginPolicy',
  updatePolicy: 'roster.users.v1.LoginPolicyService/UpdateInstanceLoginPolicy',
  permissions: {
    read: 'iam.idp.read',
    write: 'iam.idp.write',
    delete: 'iam.idp.delete',
    events: 'iam.event.read',
    readPolicy: 'iam.policy.read',
    writePolicy: 'iam.policy.write',
  },
  isOfInstance: true,
} as const

/** Of the address. */
export function usePlace(): Place {
  return isInstance(useLocation()[0]) ? ofInstance : ofOrganization
}

/** Makes paths below the list of providers. */
export function usePaths(): (path: string) => string {
  const here = useHere()
  const [at] = useLocation()
  return (path) => (isInstance(at) ? `/instance/providers${path}` : here(`/providers${path}`))
}

/** Whether the caller may do something with the providers of the address. Undefined while it is not known. */
export function useMayThere(what: keyof Permissions): boolean | undefined {
  const permission = usePlace().permissions[what]
  const [inOrganization, everywhere] = [useMay(permission), useMayEverywhere(permission)]
  return isInstance(useLocation()[0]) ? everywhere : inOrganization
}

function isInstance(path: string): boolean {
  return path.startsWith('/instance/')
}

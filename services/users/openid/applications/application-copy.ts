import type { APIApplicationConfig, OIDCApplicationConfig } from '#gen/roster/grants/v1/application_service'
import type { MachineKey } from '../../directory/events/credentials.ts'

/** What users knows of an application of grants. */
export interface ApplicationCopy extends Openness {
  id: string
  clientId: string
  /** It owns the project. */
  organizationId: string
  projectId: string
  name: string
  /** Those that expired are among them. */
  keys: MachineKey[]
  /** Exactly one of the two is there. */
  oidc?: OidcCopy
  api?: Omit<APIApplicationConfig, 'clientId' | 'effective'>
}

/** Its settings, with lengths of time in seconds. */
export type OidcCopy = Omit<
  OIDCApplicationConfig,
  'clientId' | 'responseTypes' | 'loginVersion' | 'organizationId' | 'effective' | Times
> &
  Record<Times, number> & {
    /** The login application that finishes its requests, without `/login`. Missing: Roster's pages do. */
    loginBaseUri?: string
    /** The only organization whose people may come. Missing: any. */
    organizationId?: string
  }

type Times = 'clockSkew' | 'accessTokenLifetime'

/** What users knows of a project of grants. Who has which role in it is asked of grants each time. */
export interface ProjectCopy extends Openness {
  id: string
  organizationId: string
  /** Only people with a grant of it get in. */
  roleCheck: boolean
  /** Only people of its organization, of organizations that it is granted to, or with a grant of it get in. */
  hasProjectCheck: boolean
  /** Tokens have the roles in it without being asked. */
  roleAssertion: boolean
}

/** Whether it is neither deactivated nor removed, as its closure says. */
export interface Openness {
  isOpen: boolean
  /** It rises with each closure, and with each end of one. */
  revision: number
}

/** What names an application: its client id, or its own id. */
export type ApplicationName = { clientId: string } | { applicationId: string }

export interface KnownApplication {
  application: ApplicationCopy
  project: ProjectCopy
  /** Those that have not expired. */
  secrets: KnownSecret[]
  /** Whether the organization of its project is neither deactivated nor removed. */
  isOrganizationOpen: boolean
}

/** A secret of an application, without its text. */
export interface KnownSecret {
  /** Empty where it was noted without one. */
  id: string
  /** SHA-256. */
  hash: Buffer
}

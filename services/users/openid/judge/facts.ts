import type { ApplicationCopy, Openness, ProjectCopy } from '../applications/application-copy.ts'
import type { Revisions } from '../events/authorization.ts'
import type { FactorKind } from '../../sessions/events/session.ts'
import type { AcrValue, AskedContext } from '../acr.ts'
import type { SecondFactorKind } from '../../directory/events/human.ts'
import type { SignOuts } from '../../directory/events/sign-outs.ts'
import type { CheckedFactor, OwnFactors, PersonPolicy } from '../../sessions/login-policy/login-policy.ts'

/**
 * The stage of an authorization: with pages or without, or by a login application, while an application begins; with its code; with
 * its refresh token; with an access token at userinfo, and at any other operation.
 */
export type Stage = InitialStage | 'code' | 'refresh' | 'userinfo' | 'token'

/** The stages before anything is granted. */
export type InitialStage = 'page' | 'silent' | 'session-api'

/** What `judge` decides on. What is not known is undefined. */
export interface Facts {
  user:
    | ({
        id: string
        organizationId: string
        isActive: boolean
        secondFactors: readonly SecondFactorKind[]
        /** They serve, too, where a second factor is demanded. Missing: none. */
        furtherFactors?: readonly SecondFactorKind[]
        /** Somebody else set the password. Missing: nobody did. */
        passwordMustChange?: boolean | undefined
        passwordByLink?: boolean | undefined
        /** As in OwnFactors. */
        linked?: OwnFactors['linked'] | undefined
        /**
         * The second factors that the user can prove now, or set up in a sign-in, and whether a passkey of the user opens
         * sessions. Missing: none.
         */
        can?: { prove: readonly FactorKind[]; setUp: readonly FactorKind[]; usePasskey: boolean }
      } & SignOuts)
    | undefined
  /** The user's, and that of the project. */
  organization: Openness
  projectOrganization: Openness
  application: ApplicationCopy | undefined
  project: ProjectCopy | undefined
  /** What lets the user into the project, as grants says: needed only where that checks who comes. */
  access: readonly Admission[] | undefined
  session:
    | {
        id: string
        userId: string
        isAlive: boolean
        expiresAt: Date
        kept: boolean
        factors: CheckedFactor[]
        /** Its trusted browser, and the second factor for which that stands now. Missing: for none. */
        trustId?: string | undefined
        standsIn?: SecondFactorKind | undefined
      }
    | undefined
  /** The existing authorization; unset while one is being requested. */
  authorization: GrantedBefore | undefined
  /** Whether the user lets the application be used, with which scopes, and how often that was taken back. */
  consent: { isGiven: boolean; scopes: readonly string[]; revision: number }
  /** Set while an authorization is being requested. */
  request: RequestFacts | undefined
  policy: PersonPolicy
}

export interface Admission {
  /** A grant of the user. Else the user's organization owns the project, or it is granted to it. */
  byUserGrant: boolean
  /** The event of grants since which it counts without a break. */
  eventId: string
  since: Date
}

export interface GrantedBefore {
  userId: string
  applicationId: string
  /** It began with it. */
  sessionId: string
  scopes: string[]
  /** Scopes whose claims were asked for by `claims`. */
  claimScopes: readonly string[]
  factors: CheckedFactor[]
  /** What its tokens name. */
  acr: AcrValue
  /** The second factor for which a trusted browser stands, until that is ended. Missing: for none. */
  standsIn?: SecondFactorKind | undefined
  organizationScope: string | undefined
  /** It ends with its session. */
  sessionBound: boolean
  rounds: Revisions
  /** What let the person into the project when this was last used, by `eventId`. Undefined: grants was not asked. */
  admittedBy: readonly string[] | undefined
  /** A time at which the person was not shut out. */
  usedAt: Date
}

export interface RequestFacts {
  beganAt: Date
  prompts: readonly string[]
  /** In seconds. */
  maxAge: number | undefined
  /** The only user that it may be answered for. */
  hintedUser: string | undefined
  organizationScope: string | undefined
  scopes: readonly string[]
  /** Scopes whose claims it asks for by `claims`. */
  claimScopes: readonly string[]
  /** The contexts that it asks for. Undefined: none. */
  acr: AskedContext | undefined
  /** Of those, what the user passed over. */
  passedOver: readonly string[]
  /** The user chose the account for this request. */
  chosen: boolean
  /** The user allowed this request. */
  decided: boolean
  /** Its answer goes to a program of this machine, and any program may be that. */
  needsClick: boolean
}

import { timingSafeEqual } from 'node:crypto'
import { APIAuthMethodType, OIDCAuthMethodType } from '#gen/roster/grants/v1/application_service'
import { hashToken } from '#lib/credentials/token-text'
import { orUnavailable, readNow } from '#lib/database/database'
import type { Call } from '#lib/rpc/headers'
import type { ApplicationCopy, ProjectCopy } from '../applications/application-copy.ts'
import { confirmFault, type KnownApplication } from '../applications/find-application.ts'
import type { Context } from '../../context.ts'
import type { FailureReason } from '../events/authentication.ts'
import { type Assertion, type ReadAssertion, verifyAssertion } from './assertion.ts'
import { type ClientAttempt, failing, type ProvedClient } from './failing-client.ts'

/** An application that proved who it is, by what it is registered with. A public one only says it. */
export interface ApplicationClient extends ProvedClient {
  application: ApplicationCopy
  project: ProjectCopy
}

export type ClientMethod = 'none' | 'client_secret_basic' | 'client_secret_post' | 'private_key_jwt'

/** What a client presents to prove who it is. */
export interface PresentedCredentials {
  method: ClientMethod
  /** Empty where it presents none. */
  secret: string
  /** Undefined where there is none, or none that can be read. */
  assertion: ReadAssertion | undefined
}

/** Throws `attempt.refusal`; RESOURCE_EXHAUSTED CLIENT_THROTTLED; UNAVAILABLE. */
export async function authenticateApplication(
  context: Context,
  presented: PresentedCredentials,
  copy: KnownApplication | undefined,
  attempt: ClientAttempt,
  call: Call,
): Promise<ApplicationClient> {
  let proof: Proof | FailureReason = 'secret'
  const { known, fault } = await confirmFault(context, attempt, copy, call, async (known) => {
    proof = await prove(context, presented, known)
    return typeof proof === 'string' ? proof : undefined
  })
  const fail = failing(context, attempt, known?.application, call)
  if (!known || fault !== undefined) return fail(fault ?? 'secret')
  const { once, secretId } = proof as Proof
  const { application, project } = known
  if (secretId) context.secretUses.note(application.id, secretId)
  const { refusal } = attempt
  return { application, project, refusal, fail, ...(once && { once: { ...once, taken: refusal } }) }
}

async function prove(
  context: Context,
  { method, secret, assertion }: PresentedCredentials,
  known: KnownApplication | undefined,
): Promise<Proof | FailureReason> {
  const signer = known?.application
  // Also where there is none, so that the answer takes as long.
  const signed = assertion
    ? await verifyAssertion(context.config, assertion, signer, await orUnavailable(readNow(context.sql)))
    : 'claims'
  if (!known) return 'secret'
  const { application, project } = known
  if (proofBy(methodOf(application)) !== proofBy(method)) return 'method'
  if (!application.isOpen || !project.isOpen || !known.isOrganizationOpen) return 'inactive'
  if (method === 'private_key_jwt') return signed
  if (method === 'none') return {}
  const hash = hashToken(secret)
  // Each is compared, so that the time says nothing of which it is.
  const [matching] = known.secrets.filter((one) => timingSafeEqual(one.hash, hash))
  return matching ? { secretId: matching.id } : 'secret'
}

type Proof = Partial<Assertion> & { secretId?: string }

// Libraries differ in where they put a secret, and it proves the same in either place.
function proofBy(method: ClientMethod | undefined): ClientMethod | 'secret' | undefined {
  return method === 'client_secret_basic' || method === 'client_secret_post' ? 'secret' : method
}

/** The registered method. */
export function methodOf({ oidc, api }: Pick<ApplicationCopy, 'oidc' | 'api'>): ClientMethod | undefined {
  return oidc ? ofOidc.get(oidc.authMethodType) : ofApi.get(api?.authMethodType)
}

const ofOidc = new Map<OIDCAuthMethodType, ClientMethod>([
  [OIDCAuthMethodType.OIDC_AUTH_METHOD_TYPE_BASIC, 'client_secret_basic'],
  [OIDCAuthMethodType.OIDC_AUTH_METHOD_TYPE_POST, 'client_secret_post'],
  [OIDCAuthMethodType.OIDC_AUTH_METHOD_TYPE_NONE, 'none'],
  [OIDCAuthMethodType.OIDC_AUTH_METHOD_TYPE_PRIVATE_KEY_JWT, 'private_key_jwt'],
])
const ofApi = new Map<APIAuthMethodType | undefined, ClientMethod>([
  [APIAuthMethodType.API_AUTH_METHOD_TYPE_BASIC, 'client_secret_basic'],
  [APIAuthMethodType.API_AUTH_METHOD_TYPE_PRIVATE_KEY_JWT, 'private_key_jwt'],
])

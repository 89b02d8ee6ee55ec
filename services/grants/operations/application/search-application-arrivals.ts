import {
  ApplicationRefusalCause as Cause,
  ApplicationStepKind as Kind,
  type ApplicationRefusal,
  type SearchApplicationArrivalsRequest,
  type SearchApplicationArrivalsResponse,
} from '#gen/roster/grants/v1/application_service'
import type { Refusal } from '#gen/roster/users/v1/internal_service'
import type { Call } from '#lib/rpc/headers'
import { ownApplication } from '../../applications/own-application.ts'
import type { Context } from '../../context.ts'
import type { Application } from '../../vocabulary/application.ts'

const mostRegistered = 10

/** They are known to users. What is registered, grants knows, as it is now. */
export async function searchApplicationArrivals(
  { store, users }: Context,
  request: SearchApplicationArrivalsRequest,
  call: Call,
): Promise<SearchApplicationArrivalsResponse> {
  const application = await store.load<Application>('application', request.appId)
  const { id, state } = ownApplication(application, request, call)
  const { limit, cursor, withTotal } = request
  const { refusals, steps, ...page } = await users.searchArrivals({ applicationId: id, limit, cursor, withTotal }, call)
  return {
    ...page,
    refusals: refusals.map((refusal) => show(refusal, state)),
    // The record has the order of a sign-in.
    steps: Object.entries(kinds).flatMap(([name, kind]) =>
      steps.filter(({ step }) => step === name).map(({ at }) => ({ kind, arrivalDate: at })),
    ),
  }
}

function show({ id: refusalId, at, cause, allowed, ...refusal }: Refusal, { oidc }: Application): ApplicationRefusal {
  const registered = { redirect_uri: oidc?.redirectUris, post_logout_redirect_uri: oidc?.postLogoutRedirectUris }
  const { [refusal.parameter as keyof typeof registered]: uris } = registered
  return {
    ...refusal,
    refusalId,
    refusalDate: at,
    cause: causes[cause] ?? Cause.APPLICATION_REFUSAL_CAUSE_UNSPECIFIED,
    registered: (uris ?? allowed).slice(0, mostRegistered),
  }
}

const kinds: Record<string, Kind> = {
  request: Kind.APPLICATION_STEP_KIND_REQUEST,
  'sign-in': Kind.APPLICATION_STEP_KIND_SIGN_IN,
  consent: Kind.APPLICATION_STEP_KIND_CONSENT,
  redeemed: Kind.APPLICATION_STEP_KIND_CODE_REDEEMED,
  userinfo: Kind.APPLICATION_STEP_KIND_USERINFO,
  refresh: Kind.APPLICATION_STEP_KIND_REFRESH,
  'sign-out': Kind.APPLICATION_STEP_KIND_SIGN_OUT,
}

const causes: Record<string, Cause> = {
  'redirect-uri': Cause.APPLICATION_REFUSAL_CAUSE_REDIRECT_URI,
  parameter: Cause.APPLICATION_REFUSAL_CAUSE_PARAMETER,
  provider: Cause.APPLICATION_REFUSAL_CAUSE_PROVIDER,
  person: Cause.APPLICATION_REFUSAL_CAUSE_PERSON,
  client: Cause.APPLICATION_REFUSAL_CAUSE_CLIENT,
  grant: Cause.APPLICATION_REFUSAL_CAUSE_GRANT,
  'sign-out': Cause.APPLICATION_REFUSAL_CAUSE_SIGN_OUT,
}

import { ParameterRule } from '#gen/roster/users/v1/sign_in_service'
import type { Call } from '#lib/rpc/headers'
import type { OidcCopy } from '../applications/application-copy.ts'
import { confirmFault, type KnownApplication, loadApplication } from '../applications/find-application.ts'
import { type Mistake, mistake } from '../request/mistakes.ts'
import { nearestRedirectUri } from '../request/nearest-redirect-uri.ts'
import type { SignOutParameters } from '../request/parameters.ts'
import { isRegistered } from '../request/redirect-uri.ts'
import type { Context } from '../../context.ts'
import { type Hint, readHint } from '../tokens/id-token.ts'

/** What a request to sign out says. */
export interface SignOutReading {
  /** Undefined where there is none, or none that counts. */
  hint: Hint | undefined
  /** Of the hint, else as the request has it: nothing says that there is such a client. */
  clientId: string
  /** Of the application; empty where it is not known. */
  applicationName: string
  /** Where the browser goes then; empty where that is our own page. */
  returnUri: string
  /** The application names an address that is not one of its own. */
  isUnregistered: boolean
  /** Where people of the application sign out, because they signed in there. */
  loginBaseUri: string | undefined
  /** The first mistake in the request. None of them keeps a person from signing out. */
  mistake: Mistake | undefined
  /** A registered address that is much like the one that is not. */
  nearestUri: string
}

/** Before a URI counts as not registered grants is asked, for the copy may be old. UNAVAILABLE. */
export async function readSignOut(
  context: Context,
  parameters: SignOutParameters,
  call: Call,
): Promise<SignOutReading> {
  const { idTokenHint, clientId, postLogoutRedirectUri: uri } = parameters
  const token = idTokenHint === '' ? undefined : await readHint(context, idTokenHint)
  const hint = token && ['', token.aud].includes(clientId) ? token : undefined
  const client = hint?.aud ?? clientId
  if (!/^[!-~]{1,200}$/.test(client))
    return {
      hint,
      clientId: '',
      applicationName: '',
      returnUri: '',
      isUnregistered: uri !== '',
      loginBaseUri: undefined,
      mistake: findMistake(parameters, { token, known: undefined, isUnregistered: uri !== '' }),
      nearestUri: '',
    }
  const copy = await loadApplication(context, { clientId: client })
  const { known, fault } = await confirmFault(context, { clientId: client }, copy, call, (known) =>
    uri === '' || mayReturnTo(uri, known) ? undefined : 'unregistered',
  )
  const isUnregistered = fault !== undefined
  const uris = isUnregistered ? urisOf(known) : undefined
  return {
    hint,
    clientId: client,
    applicationName: known?.application.name ?? '',
    returnUri: isUnregistered ? '' : uri,
    isUnregistered,
    loginBaseUri: known?.application.isOpen ? known.application.oidc?.loginBaseUri : undefined,
    mistake: findMistake(parameters, { token, known, isUnregistered }),
    nearestUri: (uris && nearestRedirectUri(uri, uris)) ?? '',
  }
}

interface Found {
  /** An ID token of ours, of whatever client. */
  token: Hint | undefined
  known: KnownApplication | undefined
  isUnregistered: boolean
}

const {
  PARAMETER_RULE_ONCE: once,
  PARAMETER_RULE_ID_TOKEN: idToken,
  PARAMETER_RULE_CLIENT: client,
  PARAMETER_RULE_CLIENT_OF: clientOf,
  PARAMETER_RULE_REQUIRED_BESIDE: requiredBeside,
  PARAMETER_RULE_REGISTERED: registered,
} = ParameterRule

function findMistake(parameters: SignOutParameters, { token, known, isUnregistered }: Found): Mistake | undefined {
  const { idTokenHint, clientId, repeatedParameters = [] } = parameters
  const [repeated] = repeatedParameters
  if (repeated !== undefined) return mistake(repeated, once)
  if (idTokenHint !== '' && !token) return mistake('id_token_hint', idToken)
  if (token && !['', token.aud].includes(clientId)) return mistake('client_id', clientOf, ['id_token_hint'])
  // The client of a hint matters only to an address.
  const isOpen = urisOf(known) !== undefined
  if (clientId !== '' && !isOpen && (!token || isUnregistered)) return mistake('client_id', client)
  if (!isUnregistered) return undefined
  if (clientId === '' && !token) return mistake('client_id', requiredBeside, ['post_logout_redirect_uri'])
  return isOpen ? mistake('post_logout_redirect_uri', registered) : mistake('id_token_hint', client)
}

function mayReturnTo(uri: string, known: KnownApplication | undefined): boolean {
  const uris = urisOf(known)
  return uris !== undefined && isRegistered(uri, uris)
}

/** Where people may go after a sign-out. None where the application, or its project, is not open. */
function urisOf(known: KnownApplication | undefined) {
  const { oidc, isOpen } = known?.application ?? {}
  return oidc && isOpen === true && known!.project.isOpen ? afterSignOut(oidc) : undefined
}

function afterSignOut({ appType, devMode, postLogoutRedirectUris: redirectUris }: OidcCopy) {
  return { appType, devMode, redirectUris }
}

import type { Call } from '#lib/rpc/headers'
import type { OidcCopy } from '../applications/application-copy.ts'
import { confirmFault, type KnownApplication, loadApplication } from '../applications/find-application.ts'
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
}

/** Before a URI counts as not registered grants is asked, for the copy may be old. UNAVAILABLE. */
export async function readSignOut(
  context: Context,
  { idTokenHint, clientId, postLogoutRedirectUri: uri }: SignOutParameters,
  call: Call,
): Promise<SignOutReading> {
  const hint = idTokenHint === '' ? undefined : await readHint(context, idTokenHint, clientId || undefined)
  const client = hint?.aud ?? clientId
  if (!/^[!-~]{1,200}$/.test(client))
    return {
      hint,
      clientId: '',
      applicationName: '',
      returnUri: '',
      isUnregistered: uri !== '',
      loginBaseUri: undefined,
    }
  const copy = await loadApplication(context.sql, { clientId: client })
  const { known, fault } = await confirmFault(context, { clientId: client }, copy, call, (known) =>
    uri === '' || mayReturnTo(uri, known) ? undefined : 'unregistered',
  )
  const isUnregistered = fault !== undefined
  return {
    hint,
    clientId: client,
    applicationName: known?.application.name ?? '',
    returnUri: isUnregistered ? '' : uri,
    isUnregistered,
    loginBaseUri: known?.application.isOpen ? known.application.oidc?.loginBaseUri : undefined,
  }
}

function mayReturnTo(uri: string, known: KnownApplication | undefined): boolean {
  const { oidc, isOpen } = known?.application ?? {}
  return isOpen === true && known!.project.isOpen && oidc !== undefined && isRegistered(uri, afterSignOut(oidc))
}

function afterSignOut({ appType, devMode, postLogoutRedirectUris: redirectUris }: OidcCopy) {
  return { appType, devMode, redirectUris }
}

import {
  IDTokenAlgorithm,
  OIDCAppType,
  OIDCAuthMethodType,
  OIDCGrantType,
  OIDCTokenType,
} from '#gen/roster/grants/v1/application_service'
import { instance } from '#lib/instance'
import type { Config } from '../../config.ts'
import type { ApplicationName, KnownApplication } from './application-copy.ts'

const { id, clientId, projectId, name } = instance.console

/**
 * The console, as an application that people of every organization sign in to. It is part of the release and stored
 * nowhere: so it is there after every start, and no call changes where its codes go. It belongs to the instance, which is
 * never deactivated.
 */
export function consoleApplication(config: Pick<Config, 'PUBLIC_URL' | 'CONSOLE_URL'>): KnownApplication {
  const open = { isOpen: true, revision: 0, organizationId: instance.id }
  const oidc = {
    redirectUris: [consoleCallback(config)],
    postLogoutRedirectUris: [],
    additionalOrigins: [],
    grantTypes: [OIDCGrantType.OIDC_GRANT_TYPE_AUTHORIZATION_CODE],
    appType: OIDCAppType.OIDC_APP_TYPE_WEB,
    authMethodType: OIDCAuthMethodType.OIDC_AUTH_METHOD_TYPE_NONE,
    accessTokenType: OIDCTokenType.OIDC_TOKEN_TYPE_BEARER,
    idTokenAlgorithm: IDTokenAlgorithm.ID_TOKEN_ALGORITHM_UNSPECIFIED,
    backChannelLogoutUri: '',
    clockSkew: 0,
    accessTokenLifetime: 0,
    devMode: false,
    accessTokenRoleAssertion: false,
    idTokenRoleAssertion: false,
    idTokenUserinfoAssertion: false,
    skipNativeAppSuccessPage: false,
    allowMissingPkce: false,
    firstParty: true,
    rosterApi: true,
  }
  return {
    application: { id, clientId, projectId, name, keys: [], oidc, ...open },
    project: { id: projectId, roleCheck: false, hasProjectCheck: false, roleAssertion: false, ...open },
    secrets: [],
    isOrganizationOpen: true,
  }
}

/** Where the codes of the console go. */
export function consoleCallback({ PUBLIC_URL, CONSOLE_URL }: Pick<Config, 'PUBLIC_URL' | 'CONSOLE_URL'>): string {
  return `${CONSOLE_URL || PUBLIC_URL}/ui/console/callback`
}

/** Whether a name of an application means the console. */
export function namesConsole(name: ApplicationName): boolean {
  return 'clientId' in name ? name.clientId === clientId : isConsole({ id: name.applicationId })
}

export function isConsole(application: { id: string }): boolean {
  return application.id === id
}

import type {
  UpdateIDPLDAPConfigRequest,
  UpdateIDPLDAPConfigResponse,
} from '#gen/roster/idp/v1/identity_provider_service'
import type { Call } from '#lib/rpc/headers'
import { changeConfiguration } from '../change-idp.ts'
import { checkServers } from '../check-urls.ts'
import type { Context } from '../context.ts'
import { checkTimeout, inMilliseconds } from '../ldap-timeout.ts'

export const updateIdpLdapConfig = {
  check: (context: Context, request: UpdateIDPLDAPConfigRequest) => [
    ...checkTimeout(context, request),
    ...checkServers(context, request),
  ],

  async handle(
    context: Context,
    request: UpdateIDPLDAPConfigRequest,
    call: Call,
  ): Promise<UpdateIDPLDAPConfigResponse> {
    const { idpId, startTls, baseDn, bindDn, bindPassword, userBase, timeout, attributes } = request
    const changes = {
      startTls,
      baseDn,
      bindDn,
      userBase,
      servers: unlessEmpty(request.servers),
      userObjectClasses: unlessEmpty(request.userObjectClasses),
      userFilters: unlessEmpty(request.userFilters),
      timeoutMilliseconds: inMilliseconds(timeout),
      attributes,
    }
    return changeConfiguration(context, idpId, call, 'ldap', changes, { replacement: bindPassword })
  },
}

function unlessEmpty(list: string[]): string[] | undefined {
  return list.length === 0 ? undefined : list
}

import type { AddLDAPIDPRequest, AddLDAPIDPResponse } from '#gen/roster/idp/v1/identity_provider_service'
import type { Call } from '#lib/rpc/headers'
import { addIdp } from '../add-idp.ts'
import { checkServers } from '../check-urls.ts'
import type { Context } from '../context.ts'
import { checkTimeout, inMilliseconds } from '../ldap-timeout.ts'

const defaultTimeout = 10_000

export const addLdapIdp = {
  check: (context: Context, request: AddLDAPIDPRequest) => [
    ...checkTimeout(context, request),
    ...checkServers(context, request),
  ],

  async handle(context: Context, request: AddLDAPIDPRequest, call: Call): Promise<AddLDAPIDPResponse> {
    const { servers, startTls, baseDn, bindDn, userBase, userObjectClasses, userFilters } = request
    const timeoutMilliseconds = inMilliseconds(request.timeout) ?? defaultTimeout
    const texts = { baseDn, bindDn, userBase, userObjectClasses, userFilters }
    const configuration = { servers, startTls, ...texts, timeoutMilliseconds, attributes: request.attributes! }
    return addIdp(context, call, 'ldap', request, configuration, { secret: request.bindPassword })
  },
}

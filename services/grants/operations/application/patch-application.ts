import {
  APIAuthMethodType,
  type PatchApplicationRequest,
  type PatchApplicationResponse,
} from '#gen/roster/grants/v1/application_service'
import { type Aggregate, details } from '#lib/eventstore/aggregate'
import type { Decision } from '#lib/eventstore/command'
import type { Call } from '#lib/rpc/headers'
import { changedConfig, typeMismatch } from '../../applications/change-config.ts'
import { changeOidc } from '../../applications/change-oidc.ts'
import { readsOfNamed } from '../../applications/named-organization.ts'
import { patchedOidc } from '../../applications/oidc-config.ts'
import { faultsOfMask, patchedFields } from '../../applications/patched-fields.ts'
import { changeableApplication } from '../../applications/trusted-application.ts'
import type { Context } from '../../context.ts'
import type { Application, ApplicationEvent } from '../../vocabulary/application.ts'

export const patchApplication = {
  check: (_context: Context, request: PatchApplicationRequest) => faultsOfMask(request),

  async handle(context: Context, request: PatchApplicationRequest, call: Call): Promise<PatchApplicationResponse> {
    const { name, config } = request
    const { settings, ...patched } = patchedFields(request)
    const oidc = config?.$case === 'oidcConfig' ? config.value : undefined
    const api = config?.$case === 'apiConfig' ? config.value : undefined
    return context.store.execute({
      aggregate: { type: 'application', id: request.appId },
      reads: readsOfNamed(oidc?.organizationId),
      call,
      decide(application: Aggregate<Application>, _now, { named }): Decision<ApplicationEvent> {
        const { id, state } = changeableApplication(application, request, call)
        const [ofOidc, ofApi] = [settings.get('oidcConfig'), settings.get('apiConfig')]
        if ((ofOidc && !state.oidc) || (ofApi && !state.api)) throw typeMismatch()
        const events: ApplicationEvent[] = []
        if (patched.name && name !== state.name) events.push({ type: 'changed', payload: { name: name! } })
        if (ofOidc) {
          const wanted = { request: patchedOidc(state.oidc!, ofOidc, oidc), named, place: 'oidcConfig.' }
          events.push(...changeOidc(context, { id, state }, wanted, call).events)
        }
        if (ofApi?.has('authMethodType')) {
          const { authMethodType = APIAuthMethodType.API_AUTH_METHOD_TYPE_BASIC } = api ?? {}
          events.push(...changedConfig({ api: state.api! }, { api: { authMethodType } }).events)
        }
        return { events, answer: undefined }
      },
      respond: ({ after }) => ({ details: details(after) }),
    })
  },
}

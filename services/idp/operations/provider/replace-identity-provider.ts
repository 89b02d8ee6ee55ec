import type {
  ReplaceIdentityProviderRequest,
  ReplaceIdentityProviderResponse,
} from '#gen/roster/idp/v1/provider_service'
import type { Decision } from '#lib/eventstore/command'
import type { Call } from '#lib/rpc/headers'
import { changeIdp, configurationChange, typeMismatch } from '../../change-idp.ts'
import { sealSecret } from '../../client-secrets.ts'
import type { Context } from '../../context.ts'
import { checkKind } from '../../kinds/check-kind.ts'
import { secretOf, settingsOf, updateChange } from '../../kinds/settings-of.ts'
import { toKind } from '../../kinds/to-kind.ts'
import { toRecord, withoutUnsaid } from '../../kinds/to-record.ts'
import { settingsChange } from '../../settings-change.ts'
import type { Configurations, Idp, IdpEvent, Protocol } from '../../vocabulary.ts'

export const replaceIdentityProvider = {
  check: checkKind,

  async handle(
    context: Context,
    request: ReplaceIdentityProviderRequest,
    call: Call,
  ): Promise<ReplaceIdentityProviderResponse> {
    const { idpId, config } = request
    const secret = secretOf(request)
    const sealed = secret === undefined ? undefined : sealSecret(context.keys, secret)
    return changeIdp(context, idpId, call, (idp) => {
      if (toKind(idp).$case !== config!.$case) throw typeMismatch()
      const { protocol, configuration } = toRecord(config!)
      return together(
        settingsChange(call.organizationId, idp, { ...settingsOf(request), stylingType: idp.stylingType }),
        changeOf(idpId, idp, protocol, configuration, sealed),
        { events: updateChange(idp, request) },
      )
    })
  },
}

function changeOf<P extends Protocol>(
  idpId: string,
  idp: Idp,
  protocol: P,
  configuration: Configurations[P],
  sealed: Buffer | undefined,
) {
  const before = idp[protocol] as Configurations[P]
  const secret = protocol === 'jwt' ? undefined : { sealed }
  return configurationChange(idpId, protocol, before, withoutUnsaid(configuration, before), secret)
}

type Change = Omit<Decision<IdpEvent>, 'answer'>

function together(...changes: Change[]): Change {
  return {
    events: changes.flatMap(({ events }) => events),
    claims: changes.flatMap(({ claims = [] }) => claims),
    releases: changes.flatMap(({ releases = [] }) => releases),
    writes: changes.flatMap(({ writes = [] }) => writes),
  }
}

import { IdentityProviderServiceDefinition } from '#gen/roster/idp/v1/identity_provider_service'
import { InternalServiceDefinition } from '#gen/roster/idp/v1/internal_service'
import { untilReachable } from '#lib/eventstore/database'
import { reseal } from '#lib/eventstore/reseal'
import type { Parts, Service } from '#lib/process'
import { served } from '#lib/rpc/serve'
import { startStoringService, type StoringService } from '#lib/storing-service'
import type { Config } from './config.ts'
import { sealedSecrets } from './client-secrets.ts'
import type { Context } from './context.ts'
import { addOidcIdp } from './operations/add-oidc-idp.ts'
import { getIdp } from './operations/get-idp.ts'
import { updateIdp } from './operations/update-idp.ts'
import { evolveIdp } from './vocabulary.ts'

const idp: StoringService<Config, Context> = {
  name: 'idp',
  vocabulary: { evolve: { idp: evolveIdp } },
  async open({ config, sql, store, log }) {
    const keys = config.ROSTER_ENCRYPTION_KEY
    await untilReachable(log, () => reseal(sql, keys, log, sealedSecrets))
    return { context: { store, keys } }
  },
  services: (listEvents) => [
    served<typeof IdentityProviderServiceDefinition, Context>(IdentityProviderServiceDefinition, {
      updateIDP: updateIdp,
      addOIDCIDP: addOidcIdp,
      getIDP: getIdp,
    }),
    served<typeof InternalServiceDefinition, Context>(InternalServiceDefinition, { listEvents }),
  ],
}

/** Starts the idp service: brings its schema and its sealed secrets up to date, and answers. */
export function startIdp(parts: Parts<Config>): Promise<Service> {
  return startStoringService(idp, new URL('./migrations/', import.meta.url), parts)
}

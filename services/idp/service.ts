import { IdentityProviderServiceDefinition } from '#gen/roster/idp/v1/identity_provider_service'
import { InternalServiceDefinition } from '#gen/roster/idp/v1/internal_service'
import { openDatabase, untilReachable } from '#lib/eventstore/database'
import { createFeed } from '#lib/eventstore/feed'
import { migrate } from '#lib/eventstore/migrate'
import { keepAnswers } from '#lib/eventstore/once'
import { reseal } from '#lib/eventstore/reseal'
import { createStore } from '#lib/eventstore/store'
import { startTail } from '#lib/eventstore/tail'
import type { Log } from '#lib/log'
import type { Nats } from '#lib/nats'
import type { Service } from '#lib/process'
import { serve, served } from '#lib/rpc/serve'
import { createCallerReader } from '#lib/rpc/verify-callers'
import type { Config } from './config.ts'
import { sealedSecrets } from './client-secrets.ts'
import type { Context } from './context.ts'
import { addOidcIdp } from './operations/add-oidc-idp.ts'
import { getIdp } from './operations/get-idp.ts'
import { updateIdp } from './operations/update-idp.ts'
import { evolveIdp } from './vocabulary.ts'

/** Starts the idp service: brings its schema up to date, and answers. */
export async function startIdp({ config, nats, log }: { config: Config; nats: Nats; log: Log }): Promise<Service> {
  const sql = openDatabase(config.DATABASE_URL, 'idp', log)
  await migrate(sql, new URL('./migrations/', import.meta.url), log)
  await untilReachable(log, () => reseal(sql, config.ROSTER_ENCRYPTION_KEY, log, sealedSecrets))
  const tail = startTail({ service: 'idp', sql, nats, log })
  const answers = keepAnswers(sql, config.ROSTER_ENCRYPTION_KEY, log)
  const store = createStore(sql, { evolve: { idp: evolveIdp } }, log, tail.committed, answers, config.EVENT_MAX_BYTES)
  const context: Context = { store, keys: config.ROSTER_ENCRYPTION_KEY }
  const answering = await serve({
    name: 'idp',
    nats,
    log,
    context,
    readCaller: createCallerReader('idp', config.ROSTER_CALLER_KEY(log)),
    answers,
    parked: tail.parked,
    services: [
      served<typeof IdentityProviderServiceDefinition, Context>(IdentityProviderServiceDefinition, {
        updateIDP: updateIdp,
        addOIDCIDP: addOidcIdp,
        getIDP: getIdp,
      }),
      served<typeof InternalServiceDefinition, Context>(InternalServiceDefinition, {
        listEvents: createFeed({ service: 'idp', sql, log }),
      }),
    ],
  })
  return {
    async stop() {
      await answering.stop()
      answers.stop()
      await tail.stop()
      await sql.end()
    },
  }
}

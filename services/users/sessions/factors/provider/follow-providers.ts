import { orUnavailable } from '#lib/database/database'
import { callersChanged, everybodyOf } from '#lib/events/hints'
import type { Log } from '#lib/log'
import type { Nats } from '#lib/nats/connect-nats'
import type { Service } from '#lib/process'
import { because, startFollowing } from '#lib/subscriptions/follow'
import type { Context } from '../../../context.ts'
import { forgetAllTokens } from './kept-tokens.ts'

/**
 * Follows what idp does to its providers, from the first event on. An event only says of which: what is noted is idp's own
 * answer. A session that stands on a provider which serves no more opens nothing from then on.
 */
export function startFollowingProviders({ idp, sql }: Pick<Context, 'idp' | 'sql'>, nats: Nats, log: Log): Service {
  return startFollowing({
    name: 'identity-providers',
    service: 'idp',
    feed: idp.listEvents,
    eventTypes: ['idp.*'],
    async handle(event) {
      const idpId = event.aggregateId
      const found = await idp.lookupProvider({ idpId }, because(event))
      const { organizationId, sequence, signsIn, name, stylingType, secondFactors } = found
      const { keepsTokens, logsOut, receiver } = found
      const rows = await orUnavailable(sql<{ changed: boolean; moved: boolean }[]>`
        with former as (select signs_in, second_factors, receiver from identity_providers where idp_id = ${idpId})
        insert into identity_providers
          (idp_id, organization_id, sequence, signs_in, name, styling_type, second_factors, keeps_tokens, logs_out, receiver)
        values (${idpId}, ${organizationId}, ${sequence}, ${signsIn}, ${name}, ${stylingType}, ${secondFactors},
          ${keepsTokens}, ${logsOut}, ${receiver})
        on conflict (idp_id) do update set sequence = excluded.sequence, signs_in = excluded.signs_in, name = excluded.name,
          styling_type = excluded.styling_type, second_factors = excluded.second_factors,
          keeps_tokens = excluded.keeps_tokens, logs_out = excluded.logs_out, receiver = excluded.receiver
        where identity_providers.sequence < excluded.sequence
        returning coalesce(
          (select (signs_in, second_factors) <> (${signsIn}::boolean, ${secondFactors}::text[]) from former), false
        ) as changed, coalesce((select receiver is distinct from ${receiver}::text from former), false) as moved
      `)
      // What the former one gave is nothing of the one that the record names now.
      if (rows[0]?.moved || (rows.length > 0 && !keepsTokens)) await forgetAllTokens(sql, idpId)
      // What a gateway remembers of tokens may be wrong by now: of the instance's providers, those of everybody.
      if (rows[0]?.changed) nats.connection.publish(callersChanged, everybodyOf(organizationId))
    },
    sql,
    nats,
    log,
  })
}

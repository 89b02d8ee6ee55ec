import type { Redis } from 'ioredis'
import { DeliveryServiceDefinition } from '#gen/roster/notifier/v1/delivery_service'
import { AuditServiceDefinition } from '#gen/roster/notifier/v1/audit_service'
import { InternalServiceDefinition } from '#gen/roster/notifier/v1/internal_service'
import { MailServiceDefinition } from '#gen/roster/notifier/v1/mail_service'
import { EventServiceDefinition } from '#gen/roster/notifier/v1/event_service'
import { InternalServiceDefinition as GrantsInternal } from '#gen/roster/grants/v1/internal_service'
import { InternalServiceDefinition as IdpInternal } from '#gen/roster/idp/v1/internal_service'
import { WebhookServiceDefinition } from '#gen/roster/notifier/v1/webhook_service'
import { InternalServiceDefinition as UsersInternal } from '#gen/roster/users/v1/internal_service'
import { openDatabase, type Sql } from '#lib/database/database'
import { announceStart } from '#lib/rpc/micro-service'
import { createCheckpointList } from '#lib/audit-log/chain-rows'
import { createFeed } from '#lib/subscriptions/feed'
import { migrate } from '#lib/schema/migrate'
import { NoSession } from '#lib/database/no-session'
import { proveSession, WrongSetting } from '#lib/database/prove-session'
import { OldServer } from '#lib/health/old-server'
import { Misfit } from '#lib/health/release'
import { reEncrypt } from '#lib/encryption/re-encrypt'
import { ownEvents } from '#lib/subscriptions/own-events'
import type { Log } from '#lib/log'
import type { Nats } from '#lib/nats/connect-nats'
import type { Service } from '#lib/process'
import { repeat } from '#lib/repeat'
import { createClient } from '#lib/rpc/call'
import { served } from '#lib/rpc/serve'
import { answerFrom, type StoringService } from '#lib/storing-service'
import { type CheckpointLists, shareKeys } from './audit/checkpoint-lists.ts'
import { watchMailbox } from './bounces/watch-mailbox.ts'
import type { Config } from './config.ts'
import type { Context } from './context.ts'
import { model } from './model.ts'
import type { MailReports } from './mails/queue/mail-reports.ts'
import { startStoringReports } from './mails/queue/store-reports.ts'
import { startTakingIn, type TakeInOptions } from './ledger/take-in.ts'
import { type LogoutWorker, startLogoutWorker } from './logouts/logout-worker.ts'
import { watchLogouts } from './logouts/watch-logouts.ts'
import { addWebhook } from './operations/add-webhook.ts'
import { deactivateWebhook } from './operations/deactivate-webhook.ts'
import { getDelivery } from './operations/get-delivery.ts'
import { getMail } from './operations/get-mail.ts'
import { getWebhook } from './operations/get-webhook.ts'
import { listAuditCheckpoints } from './operations/list-audit-checkpoints.ts'
import { listAuditKeys } from './operations/list-audit-keys.ts'
import { listWebhooks } from './operations/list-webhooks.ts'
import { reactivateWebhook } from './operations/reactivate-webhook.ts'
import { removeWebhook } from './operations/remove-webhook.ts'
import { replayDelivery } from './operations/replay-delivery.ts'
import { replayFailedDeliveries } from './operations/replay-failed-deliveries.ts'
import { rotateWebhookSecret } from './operations/rotate-webhook-secret.ts'
import { searchDeliveries } from './operations/search-deliveries.ts'
import { searchMails } from './operations/search-mails.ts'
import { takeProviderReport } from './operations/take-provider-report.ts'
import { testMail } from './operations/test-mail.ts'
import { updateWebhook } from './operations/update-webhook.ts'
import type { Feeds } from './feeds/read-events.ts'
import { startWakeups } from './feeds/wakeups.ts'
import { searchEvents } from './operations/search-events.ts'
import { searchOrganizationEvents } from './operations/search-organization-events.ts'
import { watchEvents } from './operations/watch-events.ts'
import { watchOrganizationEvents } from './operations/watch-organization-events.ts'
import { startRemovingOrganizations } from './organizations.ts'
import { openWebhookQueue } from './webhooks/webhook-queue.ts'
import { encryptedSecrets } from './webhooks/secret.ts'
import { startWebhookSweep } from './webhooks/webhook-sweep.ts'
import { startWebhookWorker } from './webhooks/webhook-worker.ts'
import { watchWebhooks } from './webhooks/watch-webhooks.ts'
import { internalCalls } from '../internal-calls.ts'

const retryAfter = 1000

export interface WithDatabaseOptions {
  config: Config
  nats: Nats
  redis: Redis
  log: Log
  reports: MailReports
  /** As in `TakeInOptions`. */
  queueMails: TakeInOptions['queueMails']
}

/**
 * Starts the part of the notifier that has a database: it migrates the schema, follows the events, sends to webhooks
 * and answers calls. It waits for its database as long as it takes. Mails do not wait for it.
 */
export function startWithDatabase(options: WithDatabaseOptions): Service {
  const sql = openDatabase(options.config.DATABASE_URL, 'notifier', options.log)
  const { waits } = options.nats
  const starting = announceStart(options.nats, 'notifier')
  let isMigrated = false
  let misfit: Error | undefined

  const migrating = repeat({
    async work() {
      try {
        await proveSession(options.config.DATABASE_URL, 'notifier')
        await migrate(sql, new URL('./migrations/', import.meta.url), options.log, model, waits)
      } catch (error) {
        if (![Misfit, NoSession, OldServer, WrongSetting].some((kind) => error instanceof kind)) throw error
        misfit = error as Error
        return 'done'
      }
      await reEncrypt(sql, options.config.ROSTER_ENCRYPTION_KEY, options.log, encryptedSecrets)
      isMigrated = true
      waits.end('PostgreSQL')
      return 'done'
    },
    every: retryAfter,
    retryAfter,
    failed: (error) => waits.begin('PostgreSQL', error),
  })

  const begun = migrating.finished.then(async () => {
    // It is not caught, so it ends the process.
    if (misfit) throw misfit
    const running = isMigrated ? await startAnswering(sql, options) : undefined
    starting.stop()
    return running
  })
  return {
    async stop() {
      const stopped = migrating.stop()
      // A stop need not wait for a database that is away.
      if (!isMigrated) await sql.end({ timeout: 0 })
      await stopped
      await (await begun)?.stop()
      await sql.end()
    },
  }
}

// Operations have connections of their own, so that long searches do not hold up the intake and the sending.
function startAnswering(sql: Sql, options: WithDatabaseOptions): Promise<Service> {
  const asked = openDatabase(options.config.DATABASE_URL, 'notifier', options.log, 'operations')
  return answerFrom(sql, notifier(sql, options), options, asked)
}

function notifier(
  sql: Sql,
  {
    config: { ROSTER_DRILL },
    redis,
    reports,
    queueMails,
  }: Pick<WithDatabaseOptions, 'config' | 'redis' | 'reports' | 'queueMails'>,
): StoringService<Config, Context> {
  const isDrill = ROSTER_DRILL === '1'
  return {
    name: 'notifier',
    vocabulary: model,
    isDrill,
    async open({ config, nats, log, sql: asked, store }) {
      const keys = config.ROSTER_ENCRYPTION_KEY
      const destinations = config.WEBHOOK_ALLOW_PRIVATE
      const retryFor = config.WEBHOOK_RETRY_FOR * 1000
      const queue = openWebhookQueue(redis, log)
      // In a drill nobody would take what the queue is given. The sweep finds it later, which gives up what is late.
      const wake = isDrill ? () => {} : queue.wake
      const sisters = sistersOf(nats)
      let logouts: LogoutWorker | undefined
      const startSending = () => {
        const worker = startWebhookWorker({
          redis,
          sql,
          store,
          keys,
          destinations,
          queue,
          log,
          retryFor,
          within: config.WEBHOOK_TIMEOUT * 1000,
          concurrency: config.WEBHOOK_CONCURRENCY,
        })
        logouts = startLogoutWorker({
          sql,
          users: sisters.users,
          destinations,
          log,
          within: config.WEBHOOK_TIMEOUT * 1000,
          every: config.SWEEP_INTERVAL * 1000,
        })
        return [logouts, startWebhookSweep({ sql, worker, log, every: config.SWEEP_INTERVAL * 1000, retryFor }), worker]
      }
      const senders = isDrill ? [] : startSending()
      // A drill must not take the messages away from what it is a copy of.
      const box = !isDrill && config.returnPaths && config.MAIL_BOUNCES_IMAP
      if (box)
        senders.push(
          watchMailbox({
            sql,
            redis,
            log,
            mailbox: box,
            paths: config.returnPaths!,
            every: config.MAIL_BOUNCES_INTERVAL * 1000,
          }),
        )
      const watching = [watchWebhooks(sql), watchLogouts(sql), startStoringReports({ sql, reports, log })]
      const feeds = feedsOf(asked, sisters, log)
      const checkpointLists = checkpointListsOf(asked, sisters)
      const wakeups = startWakeups({ nats, feeds, log })
      const intake = Object.entries(feeds).map(([service, feed]) =>
        startTakingIn({ service, feed, sql, nats, log, wake, queueMails, wakeLogouts: () => logouts?.wake() }),
      )
      const organizations = startRemovingOrganizations({ sql: asked, store, nats, log }, feeds.grants!)
      const mostWebhooks = config.WEBHOOKS_PER_ORGANIZATION
      return {
        context: {
          sql: asked,
          log,
          store,
          keys,
          feeds,
          wakeups,
          checkpointLists,
          auditKeys: shareKeys(checkpointLists),
          destinations,
          mailSettings: config,
          isDrill,
          mostWebhooks,
          wake,
        },
        waitedFor: [wakeups],
        background: [...watching, organizations, { stop: () => stopSending([...senders, ...intake], queue) }],
      }
    },
    services: () => [
      served<typeof WebhookServiceDefinition, Context>(WebhookServiceDefinition, {
        addWebhook,
        updateWebhook,
        removeWebhook,
        getWebhook,
        listWebhooks,
        deactivateWebhook,
        reactivateWebhook,
        rotateWebhookSecret,
      }),
      served<typeof DeliveryServiceDefinition, Context>(DeliveryServiceDefinition, {
        searchDeliveries,
        getDelivery,
        replayDelivery,
        replayFailedDeliveries,
      }),
      served<typeof MailServiceDefinition, Context>(MailServiceDefinition, { searchMails, getMail, testMail }),
      served<typeof InternalServiceDefinition, Context>(InternalServiceDefinition, { takeProviderReport }),
      served<typeof EventServiceDefinition, Context>(EventServiceDefinition, {
        searchEvents,
        searchOrganizationEvents,
        watchEvents,
        watchOrganizationEvents,
      }),
      served<typeof AuditServiceDefinition, Context>(AuditServiceDefinition, { listAuditCheckpoints, listAuditKeys }),
    ],
  }
}

async function stopSending(senders: Service[], queue: { close(): Promise<void> }): Promise<void> {
  await Promise.all(senders.map((sender) => sender.stop()))
  await queue.close()
}

type Sisters = ReturnType<typeof sistersOf>

function sistersOf(nats: Nats) {
  return {
    users: createClient(nats, UsersInternal, internalCalls.notifier.users),
    grants: createClient(nats, GrantsInternal, internalCalls.notifier.grants),
    idp: createClient(nats, IdpInternal, internalCalls.notifier.idp),
  }
}

function feedsOf(sql: Sql, { users, grants, idp }: Sisters, log: Log): Feeds {
  const own = createFeed({ service: 'notifier', sql, log })
  return {
    users: ownEvents('users', users.listEvents, log),
    grants: ownEvents('grants', grants.listEvents, log),
    idp: ownEvents('idp', idp.listEvents, log),
    notifier: (request) => own({}, request),
  }
}

function checkpointListsOf(sql: Sql, { users, grants, idp }: Sisters): CheckpointLists {
  const own = createCheckpointList(sql)
  return {
    users: users.listCheckpoints,
    grants: grants.listCheckpoints,
    idp: idp.listCheckpoints,
    notifier: (request) => own({}, request),
  }
}

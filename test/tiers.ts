/**
 * Test files of the second tier, which `npm run test:all` runs beside everything else: they take more than some
 * seconds, or need what only that tier installs. A promise that is seen there only is one that changes seldom, or whose
 * quick half another file shows.
 */
export const secondTier = [
  // Long waits, restarts and processes of their own.
  'deploy/bundle/bundle.integration.test.ts',
  'deploy/local/start.integration.test.ts',
  'deploy/local/newcomer.integration.test.ts',
  'deploy/nats/{cluster,isolation}.integration.test.ts',
  'deploy/provision.integration.test.ts',
  'deploy/prometheus/promtool.integration.test.ts',
  'lib/audit-log/sign-checkpoints.integration.test.ts',
  'lib/audit-log/start-chain.integration.test.ts',
  'lib/{subscriptions/follow,schema/writes-beside-migration}.integration.test.ts',
  'lib/eventstore/doubles.integration.test.ts',
  'lib/outbox/erased-in-stream.integration.test.ts',
  'lib/outbox/republish.integration.test.ts',
  'lib/outbox/set-back.integration.test.ts',
  'lib/database/{several-hosts,close-silent}.integration.test.ts',
  'lib/outbox/outbox-outages.integration.test.ts',
  'lib/schema/take-over.integration.test.ts',
  'lib/outbox/stream-keeper.integration.test.ts',
  'services/gateway/listen/{listener,whole-answers}.integration.test.ts',
  'services/gateway/rate-limits/memory-of-attacks.integration.test.ts',
  'services/users/sessions/factors/many-guesses.integration.test.ts',
  'services/users/openid/judge/matrix.integration.test.ts',
  'services/notifier/mails/outages.integration.test.ts',
  'services/notifier/mails/{queue/mail-queue,smtp/slow-mail-server}.integration.test.ts',
  'services/notifier/{process,sentinel}.integration.test.ts',
  'services/notifier/webhooks/{webhooks,webhook-queue}.integration.test.ts',
  'services/users/bootstrap.integration.test.ts',
  'test/console/console-url.integration.test.ts',
  // They measure.
  'services/users/{pages/registration,sessions}/answers-in-time.integration.test.ts',
  'services/users/directory/erasure/{cleaning-queue,erase-again,set-back}.integration.test.ts',
  'test/rpc/one-meaning.integration.test.ts',
  'test/{event-streams,metrics,metrics-of-calls,metrics-of-work,misfits,traces,old-servers,quiet-outages,start-without-postgres,poolers,upgrade-keys,waits}.test.ts',
  // The operator's commands: the first tier tries them with the house of stopped-house alone.
  'operator/{history,operator,unreachable}.integration.test.ts',
  'operator/verify/**',
  'operator/status/**',
  'operator/erasure/**',
  'operator/keys/**',
  // Browsers and clients that others wrote.
  '**/*.browser.test.ts',
  'test/e2e/console/*.test.ts',
  'test/e2e/clients/{browser,connect-web,foreign-clients}.test.ts',
  'test/e2e/sign-in/{activity-browser,mailed-sign-in-browser,passkeys-browser,passkey-offer-browser,recovery-browser,passkeys-firefox,taken-over-browser,sign-in-browser,sign-in-firefox,sign-in-examples}.test.ts',
  'test/e2e/zitadel/zitadel-clients.test.ts',
  // Each operation with each of its fields, over tables of many rows.
  'test/e2e/every-operation/{indexes,openapi,unhindered}.test.ts',
  'test/e2e/events/{event-limits,late-commits}.test.ts',
  'test/e2e/organizations/{last-owner-mix,members}.test.ts',
  'test/e2e/secrets/secrets.test.ts',
  // Providers that lie, in a hundred ways, and slowly.
  'test/e2e/idps/hostile-{provider,transport}.test.ts',
  'test/e2e/users/{erasure,user-removal}.test.ts',
  'test/e2e/doors/pages.test.ts',
  'test/e2e/explain/agreement.test.ts',
  'test/e2e/migration/**',
]

/**
 * Tests that read counters, start telemetry, or count what Node's own modules compute, which a process has once. Each has a
 * process of its own.
 */
export const counting = [
  'lib/{eventstore/given-up,schema/releases,eventstore/traces,subscriptions/follow}.integration.test.ts',
  'services/gateway/call/trace-call.integration.test.ts',
  'services/gateway/listen/{crowds,whole-answers}.integration.test.ts',
  'services/notifier/ledger/intake-lag.integration.test.ts',
  'services/notifier/oldest-waiting.integration.test.ts',
  'services/users/directory/passwords/{checks-cost-alike,limits-counted}.integration.test.ts',
  'test/rpc/serve.integration.test.ts',
  'test/{metrics,metrics-of-calls,metrics-of-work,traces}.test.ts',
]

/** Files of the second tier that wait for most of their time: for outages, retries and restarts. */
export const waiting = [
  'deploy/local/start.integration.test.ts',
  'deploy/nats/cluster.integration.test.ts',
  'operator/status/status.integration.test.ts',
  'services/notifier/mails/outages.integration.test.ts',
  'test/{waits,quiet-outages,start-without-postgres}.test.ts',
]

/**
 * Files that take more than forty seconds, the longest first. A short text may take long, and would come last, as those
 * do that are not named here.
 */
export const longest = [
  'services/users/openid/judge/matrix.integration.test.ts',
  'services/users/sessions/answers-in-time.integration.test.ts',
  'services/gateway/pages/login/screens.browser.test.ts',
  'test/e2e/every-operation/indexes.test.ts',
  'test/upgrade/upgrade.test.ts',
  'test/clients/relying-parties/relying-parties.test.ts',
  'test/faults/faults.test.ts',
  'deploy/local/start.integration.test.ts',
  'test/clients/oauth/oauth-clients.test.ts',
  'test/clients/proto/proto-clients.test.ts',
  'test/e2e/authorization/walk.test.ts',
  'operator/status/status.integration.test.ts',
  'services/notifier/webhooks/webhook-queue.integration.test.ts',
  'services/notifier/webhooks/webhooks.integration.test.ts',
  'operator/verify/verify.integration.test.ts',
  'test/clients/sign-in/node-pages.test.ts',
  'test/clients/sign-in/python.test.ts',
  'test/e2e/migration/migrate-zitadel.test.ts',
  'test/waits.test.ts',
  'test/rpc/one-meaning.integration.test.ts',
  'test/start-without-postgres.test.ts',
  'test/e2e/every-operation/openapi.test.ts',
  'test/e2e/organizations/last-owner-mix.test.ts',
  'test/e2e/sessions/back-channel-logout.test.ts',
  'operator/erasure/erasure-report.integration.test.ts',
  'test/e2e/explain/agreement.test.ts',
  'lib/outbox/republish.integration.test.ts',
  'services/gateway/rate-limits/memory-of-attacks.integration.test.ts',
  'test/faults/refresh-tabs.test.ts',
  'services/gateway/openapi/docs.browser.test.ts',
]

import { optional, readConfig, serverUrls } from '#lib/config/read-config'
import { projectRoot } from '../deploy/local/home.ts'
import { type OperatorUrls, readOperatorUrls } from '../deploy/local/operator-urls.ts'
import { postgresUrl } from '#lib/database/database-url'
import { redisUrl } from '../services/notifier/redis.ts'
import { join } from 'node:path'
import { placeOf } from './place.ts'
import { Refusal } from './refusal.ts'

/**
 * Finds the servers: by the settings ROSTER_OPERATOR_DATABASE_URL, _NATS_URL and _REDIS_URL, else by what `npm start`
 * left in its folder. The names are the command's own, so that it never takes an administrator's DATABASE_URL. Where
 * that one leads elsewhere, as after a restore, the user may mean either: this throws a Refusal.
 */
export function readUrls(
  environment: Record<string, string | undefined>,
  folder = join(projectRoot, '.roster'),
): OperatorUrls {
  const isGiven = names.some((name) => environment[name] || environment[`${name}_FILE`])
  const urls = isGiven ? fromEnvironment(environment) : readOperatorUrls(folder)
  if (!urls)
    throw new Refusal(
      `No Roster is known here: start one with npm start, or set ${names[0]}, and ${names[1]} for what needs NATS (docs/command.md).`,
    )
  if (!isGiven) refuseAnother(environment['DATABASE_URL'], urls.databaseUrl)
  return urls
}

const names = [
  'ROSTER_OPERATOR_DATABASE_URL',
  'ROSTER_OPERATOR_NATS_URL',
  'ROSTER_OPERATOR_REDIS_URL',
  'ROSTER_OPERATOR_PERSONAL_KEY',
] as const

function refuseAnother(given: string | undefined, kept: string): void {
  const [there, here] = [given ? placeOf(given) : undefined, placeOf(kept)]
  if (there !== undefined && there !== here)
    throw new Refusal(
      `DATABASE_URL leads to ${there}, and the Roster of the last npm start here is at ${here}: ` +
        `set ${names[0]} to the one that you mean, or unset DATABASE_URL (docs/command.md).`,
    )
}

function fromEnvironment(environment: Record<string, string | undefined>): OperatorUrls {
  try {
    const read = readConfig(
      {
        [names[0]]: postgresUrl,
        [names[1]]: { ...serverUrls(['nats', 'tls']), default: undefined },
        [names[2]]: { ...redisUrl, default: undefined },
        [names[3]]: optional(),
      },
      environment,
    ) as Record<(typeof names)[number], string>
    return {
      databaseUrl: read[names[0]],
      natsUrl: read[names[1]],
      redisUrl: read[names[2]],
      personalKey: read[names[3]],
    }
  } catch (error) {
    throw new Refusal((error as Error).message)
  }
}

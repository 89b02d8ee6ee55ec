import { hosts, integer, oneOf, origin, readConfig, type Setting, text, url } from '#lib/config'
import { logLevel } from '#lib/log'
import { checkpointInterval, largestEvent } from '#lib/eventstore/limits'
import { encryptionKey } from '#lib/keys'
import { callerKey } from '#lib/rpc/caller-keys'

/** Seconds that an access token may live at most. */
export const longestAccessToken = 86_400

// Each mail is a row that is counted.
const mostMails = 100_000

/** Reads the service's settings; throws one Error that lists every problem. */
export function readUsersConfig(environment?: Record<string, string | undefined>) {
  return readConfig(
    {
      DATABASE_URL: url(['postgres', 'postgresql']),
      NATS_URL: url(['nats', 'tls']),
      PUBLIC_URL: origin('http://localhost:8080'),
      ROSTER_ENCRYPTION_KEY: encryptionKey,
      ROSTER_CALLER_KEY: callerKey,
      ROSTER_ADMIN_TOKEN_FILE: text('.roster/admin-token'),
      // Password of the first administrator. Without it, Roster makes one and writes it beside the token.
      ROSTER_ADMIN_PASSWORD: password,
      // Hosts that a urlTemplate may lead to, beside the host of PUBLIC_URL. None: a caller with user.write may name
      // any host, other callers no other host.
      EMAIL_LINK_HOSTS: hosts([]),
      // Mails to one address, over all users and organizations, and mails to the users of one organization.
      MAILS_PER_ADDRESS_IN_TEN_MINUTES: integer(1, mostMails, 5),
      MAILS_PER_ADDRESS_A_DAY: integer(1, mostMails, 20),
      MAILS_PER_ORGANIZATION_AN_HOUR: integer(1, mostMails, 1000),
      // Seconds.
      EMAIL_CODE_LIFETIME: integer(60, 30 * 86_400, 3600),
      PASSWORD_CODE_LIFETIME: integer(60, 86_400, 3600),
      // Seconds after its change during which an address cannot recover the account, unless somebody vouched for it.
      PASSWORD_RESET_AFTER_EMAIL_CHANGE: integer(0, 30 * 86_400, 86_400),
      SESSION_LIFETIME: integer(60, 365 * 86_400, 12 * 3600),
      // A user may have so many living sessions. One more ends the oldest.
      SESSIONS_PER_USER: integer(1, 1000, 100),
      // Seconds.
      ACCESS_TOKEN_LIFETIME: integer(60, longestAccessToken, 12 * 3600),
      // Algorithm of the signatures of JWT access tokens.
      ACCESS_TOKEN_ALGORITHM: oneOf(['ES256', 'EdDSA', 'RS256'], 'ES256'),
      // Days until the next key signs.
      SIGNING_KEY_ROTATION: integer(1, 3650, 90),
      // Days after its removal until a user is forgotten. Meanwhile the removal can be undone. 0: it is forgotten at once.
      FORGET_AFTER_DAYS: integer(0, 365, 0),
      // Bytes of an event as it is published.
      EVENT_MAX_BYTES: largestEvent,
      CHECKPOINT_INTERVAL: checkpointInterval,
      LOG_LEVEL: logLevel,
    },
    environment,
  )
}

// Nobody can sign in with a longer one.
const longestPassword = 200

const password: Setting<string | undefined> = {
  default: undefined,
  read(value) {
    if ([...value].length > longestPassword) throw new Error(`has more than ${longestPassword} characters`)
    return value
  },
}

export type Config = ReturnType<typeof readUsersConfig>

import { consoleUrl, publicUrl } from '#lib/config/common-settings'
import { described, hosts, integer, oneOf, readConfig, type Setting, text } from '#lib/config/read-config'
import { offered, standard } from '#lib/credentials/argon2-parameters'
import { passkeyOrigins, passkeyRpId } from '#lib/config/passkey-settings'
import { storingSettings } from '#lib/storing-settings'

/** Seconds that an access token may live at most. */
export const longestAccessToken = 86_400

// Each mail is a row that is counted.
const mostMails = 100_000

/** Reads the service's settings; throws one Error that lists every problem. */
export function readUsersConfig(environment?: Record<string, string | undefined>) {
  return readConfig(settings, environment)
}

export type Config = ReturnType<typeof readUsersConfig>

// No user can sign in with a longer one.
const longestPassword = 200

const password: Setting<string | undefined> = {
  default: undefined,
  accepts: `up to ${longestPassword} characters`,
  read(value) {
    if ([...value].length > longestPassword) throw new Error(`has more than ${longestPassword} characters`)
    return value
  },
}

export const settings = {
  ...storingSettings,
  PUBLIC_URL: publicUrl,
  CONSOLE_URL: consoleUrl,
  ROSTER_ADMIN_TOKEN_FILE: described(
    "The file to which the first start writes the machine administrator's token",
    text('.roster/admin-token'),
  ),
  ROSTER_ADMIN_PASSWORD: described(
    "The human administrator's first password. One that is guessed first, such as `password`, stops the first start. Without it, Roster makes one and writes it to `admin-password` beside the token",
    password,
  ),
  EMAIL_LINK_HOSTS: described(
    'Hosts that a `urlTemplate` may lead to, beside the host of `PUBLIC_URL`. None: a caller with `user.write` may name any host, other callers no other host',
    hosts([]),
  ),
  MAILS_PER_ADDRESS_IN_TEN_MINUTES: described(
    'The most mails to one address, over all users and organizations',
    integer(1, mostMails, 5),
  ),
  MAILS_PER_ADDRESS_A_DAY: described('The same, in a day', integer(1, mostMails, 20)),
  MAILS_PER_ORGANIZATION_AN_HOUR: described(
    'The most mails to the users of one organization',
    integer(1, mostMails, 1000),
  ),
  EMAIL_CODE_LIFETIME: described('Seconds that a code of an email address is valid', integer(60, 30 * 86_400, 3600)),
  PASSWORD_CODE_LIFETIME: described('Seconds that a code of a password reset is valid', integer(60, 86_400, 3600)),
  PASSWORD_RESET_AFTER_EMAIL_CHANGE: described(
    'Seconds during which a changed address cannot reset the password, unless somebody else with `user.write` verified it, and a link to the former one takes the change back',
    integer(0, 30 * 86_400, 3 * 86_400),
  ),
  PASSWORD_HASHING: described(
    "Memory (KiB), passes and lanes of Argon2id, by which passwords are hashed: OWASP's five, each about as hard to guess by. The one that a replica of users started with last counts for all: [Parameters of password hashes](operations.md#parameters-of-password-hashes)",
    oneOf(offered, standard),
  ),
  PASSKEY_RP_ID: passkeyRpId,
  PASSKEY_ORIGINS: passkeyOrigins,
  SESSION_LIFETIME: described('Seconds that a session lives', integer(60, 365 * 86_400, 12 * 3600)),
  KEPT_SESSION_LIFETIME: described(
    'Seconds that a session lives whose person stays signed in, where a login policy lets them',
    integer(60, 365 * 86_400, 30 * 86_400),
  ),
  SESSIONS_PER_USER: described(
    'The most sessions of a user at a time. One more ends the oldest',
    integer(1, 1000, 100),
  ),
  SIGN_IN_RECORD_DAYS: described(
    'Days that Roster keeps where people signed in: [what is kept of a person](privacy.md). 0: it keeps nothing of that, and deletes what it has',
    integer(0, 365, 90),
  ),
  REFRESH_IDLE_LIFETIME: described(
    'Seconds that an unused refresh token of a person lives',
    integer(60, 365 * 86_400, 30 * 86_400),
  ),
  REFRESH_LIFETIME: described(
    'Seconds after which a person signs in again, however often a refresh token was used',
    integer(60, 365 * 86_400, 90 * 86_400),
  ),
  ACCESS_TOKEN_LIFETIME: described(
    'Seconds that an access token of a machine lives',
    integer(60, longestAccessToken, 12 * 3600),
  ),
  PERSON_TOKEN_LIFETIME: described(
    'Seconds that an access token of a person lives. An application may say less',
    integer(60, longestAccessToken, 900),
  ),
  ACCESS_TOKEN_ALGORITHM: described(
    'The algorithm that signs JWT access tokens',
    oneOf(['ES256', 'EdDSA', 'RS256'], 'ES256'),
  ),
  SIGNING_KEY_ROTATION: described('Days until the next key signs access tokens', integer(1, 3650, 90)),
  FORGET_AFTER_DAYS: described(
    'Days between the removal of a user and the [erasure](erasure.md) of their data. Meanwhile RestoreUser undoes the removal. 0: Roster erases at once',
    integer(0, 365, 0),
  ),
}

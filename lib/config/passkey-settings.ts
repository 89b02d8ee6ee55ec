import { described, origins, type Setting } from './read-config.ts'

// WebAuthn has no addresses.
const domain: Setting<string> = {
  default: '',
  accepts: 'a domain, such as `example.com`',
  read(value) {
    const host = URL.parse(`https://${value}`)?.host
    if (host === undefined || !/^[a-z\d-]+(\.[a-z\d-]+)*$/.test(value) || host !== value || /^[\d.]+$/.test(host))
      throw new Error('is not a domain in lower case and Punycode, such as example.com, without scheme, port and path')
    return value
  },
}

/** `PASSKEY_RP_ID`. */
export const passkeyRpId = described(
  'The domain that passkeys are made for (their RP ID): the host of `PUBLIC_URL`, or a domain above it. Whoever changes it ends every passkey that was made before: [passkeys](sign-in/passkeys.md#the-domain). Default: the host of `PUBLIC_URL`',
  domain,
)

const { read } = origins()

/** `PASSKEY_ORIGINS`, for the gateway and for users. */
export const passkeyOrigins = described(
  'Further origins, beside that of `PUBLIC_URL`, whose pages may use the passkeys: a login application on another host. They are listed in `/.well-known/webauthn`',
  {
    default: [] as string[],
    accepts: 'origins, separated by commas',
    read(value: string) {
      const all = read(value)
      if (all.some((one) => !/^https?:/.test(one)))
        throw new Error('is not a list of origins, such as https://login.example.com')
      return all
    },
  },
)

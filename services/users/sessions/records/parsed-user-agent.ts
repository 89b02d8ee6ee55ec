import { parse } from 'bowser'
import { SignInDevice } from '#gen/roster/users/v1/session_service'

/** What a client says of itself. Empty: it says nothing, or nothing that is known. */
export interface ParsedUserAgent {
  browser: string
  system: string
  device: SignInDevice
}

/** Characters. */
const longest = 40

/** Reads the header User-Agent. What is no browser is named by its first product, such as `curl`. */
export function parseUserAgent(userAgent: string): ParsedUserAgent {
  if (userAgent === '') return { browser: '', system: '', device: SignInDevice.SIGN_IN_DEVICE_UNSPECIFIED }
  const { browser, os, platform } = parse(userAgent)
  return {
    browser: cut(browser.name ?? /^[\w.-]+/.exec(userAgent)?.[0]),
    system: cut(os.name),
    device: devices[platform.type ?? ''] ?? SignInDevice.SIGN_IN_DEVICE_OTHER,
  }
}

const devices: Record<string, SignInDevice> = {
  desktop: SignInDevice.SIGN_IN_DEVICE_COMPUTER,
  mobile: SignInDevice.SIGN_IN_DEVICE_PHONE,
  tablet: SignInDevice.SIGN_IN_DEVICE_TABLET,
}

function cut(name = ''): string {
  return name.slice(0, longest)
}

import type { CDPSession, Page } from 'playwright-core'

/** What an authenticator can, and what its person does. */
interface Traits {
  hasResidentKey?: boolean
  hasUserVerification?: boolean
  isUserVerified?: boolean
  /** The person touches it at once. */
  automaticPresenceSimulation?: boolean
}

/** A virtual authenticator of Chromium, as a device of the browser (CDP, domain WebAuthn). */
export interface VirtualAuthenticator {
  /** The ids of its credentials. */
  credentials(): Promise<string[]>
  remove(credentialId: string): Promise<void>
  verifies(isUserVerified: boolean): Promise<void>
  /** The person touches it from now on, or does not. */
  touches(isTouched: boolean): Promise<void>
  overrides(bits: { isBogusSignature?: boolean; isBadUV?: boolean; isBadUP?: boolean }): Promise<void>
  /** Takes a credential of another one. */
  copy(from: VirtualAuthenticator): Promise<void>
  all(): Promise<StoredCredential[]>
  unplug(): Promise<void>
}

type StoredCredential = Awaited<ReturnType<typeof stored>>[number]

export async function plugIn(page: Page, traits: Traits = {}): Promise<VirtualAuthenticator> {
  const cdp = await page.context().newCDPSession(page)
  await cdp.send('WebAuthn.enable', { enableUI: false })
  const { authenticatorId } = await cdp.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      ctap2Version: 'ctap2_1',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
      ...traits,
    },
  })
  const all = () => stored(cdp, authenticatorId)
  return {
    all,
    credentials: async () => (await all()).map(({ credentialId }) => credentialId),
    remove: async (credentialId) => {
      await cdp.send('WebAuthn.removeCredential', { authenticatorId, credentialId })
    },
    verifies: async (isUserVerified) => {
      await cdp.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified })
    },
    touches: async (enabled) => {
      await cdp.send('WebAuthn.setAutomaticPresenceSimulation', { authenticatorId, enabled })
    },
    overrides: async (bits) => {
      await cdp.send('WebAuthn.setResponseOverrideBits', { authenticatorId, ...bits })
    },
    copy: async (from) => {
      for (const credential of await from.all())
        await cdp.send('WebAuthn.addCredential', { authenticatorId, credential })
    },
    unplug: async () => {
      await cdp.send('WebAuthn.removeVirtualAuthenticator', { authenticatorId })
    },
  }
}

async function stored(cdp: CDPSession, authenticatorId: string) {
  return (await cdp.send('WebAuthn.getCredentials', { authenticatorId })).credentials
}

import type {
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialDescriptorJSON,
  PublicKeyCredentialRequestOptionsJSON,
} from '@simplewebauthn/server'
import type { Passkey } from '../../../directory/events/passkeys.ts'
import { challengeLifetime } from './challenge.ts'
import { algorithms } from './verify-registration.ts'

const timeout = challengeLifetime * 1000

/**
 * What a browser is asked for to sign in. Without passkeys, it offers what it has: a list would make some ask for another
 * device.
 */
export function requestOptions(
  rpId: string,
  challenge: string,
  userVerification: 'required' | 'preferred' | 'discouraged',
  passkeys: Passkey[] = [],
): PublicKeyCredentialRequestOptionsJSON {
  return { challenge, timeout, rpId, allowCredentials: passkeys.map(descriptorOf), userVerification }
}

/** What a browser is asked for to make a credential. */
export function creationOptions(
  rpId: string,
  challenge: string,
  { name, displayName, passkeys }: Owner,
  { userHandle, secondOnly, attachment, conditional = false }: Wanted,
): PublicKeyCredentialCreationOptionsJSON {
  return {
    challenge,
    timeout,
    rp: { id: rpId, name: rpId },
    user: { id: userHandle, name, displayName },
    pubKeyCredParams: algorithms.map((alg) => ({ type: 'public-key', alg })),
    excludeCredentials: passkeys.filter((one) => one.rpId === rpId).map(descriptorOf),
    authenticatorSelection: {
      ...(attachment && { authenticatorAttachment: attachment }),
      residentKey: secondOnly ? 'discouraged' : 'required',
      requireResidentKey: !secondOnly,
      userVerification: secondOnly ? 'discouraged' : conditional ? 'preferred' : 'required',
    },
    attestation: 'none',
    extensions: { credProps: true },
  }
}

/** Who is to have it, as lists of passkeys show them. */
export interface Owner {
  name: string
  displayName: string
  /** That are there. */
  passkeys: Passkey[]
}

export interface Wanted {
  userHandle: string
  /** A second factor alone. */
  secondOnly: boolean
  attachment?: 'platform' | 'cross-platform' | undefined
  /** The browser makes it without asking. */
  conditional?: boolean
}

function descriptorOf({ credentialId: id, transports }: Passkey): PublicKeyCredentialDescriptorJSON {
  return {
    id,
    type: 'public-key',
    transports,
  }
}

import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto'

/** What an answer says that no honest browser and authenticator would. */
export interface Lies {
  origin?: string
  rpId?: string
  type?: string
  challenge?: string
  crossOrigin?: boolean
  topOrigin?: string
  up?: boolean
  uv?: boolean
  be?: boolean
  bs?: boolean
  signCount?: number
  userHandle?: string | undefined
  /** The signature is of another text. */
  bogus?: boolean
  /** Beside the signed data. */
  id?: string
  /** Of the new credential. */
  credentialId?: Buffer
  algorithm?: number
  format?: string
  certificates?: boolean
  /** The key itself, in place of one of P-256. */
  coseKey?: Buffer
  aaguid?: string
  credProps?: { rk: boolean }
}

export interface CreationOptions {
  challenge: string
  rp: { id?: string }
  user: { id: string }
}

export interface RequestOptions {
  challenge: string
  rpId?: string
}

/** An authenticator with a browser around it, in one: honest but for what a test has it say. */
export class Authenticator {
  readonly credentialId: Buffer
  signCount = 0
  backupEligible = false
  readonly #keys: { publicKey: KeyObject; privateKey: KeyObject }
  readonly #origin: string
  #rpId = ''
  #userHandle = ''

  constructor(origin: string, credentialId = randomBytes(32)) {
    this.#origin = origin
    this.credentialId = credentialId
    this.#keys = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  }

  get id(): string {
    return this.credentialId.toString('base64url')
  }

  /** Makes a credential, as `navigator.credentials.create()` does. */
  create({ challenge, rp, user }: CreationOptions, lies: Lies = {}): Record<string, unknown> {
    this.#rpId = rp.id!
    this.#userHandle = user.id
    const id = lies.credentialId ?? this.credentialId
    const length = Buffer.alloc(2)
    length.writeUInt16BE(id.length)
    const aaguid = Buffer.from((lies.aaguid ?? '0'.repeat(32)).replaceAll('-', ''), 'hex')
    const attested = Buffer.concat([aaguid, length, id, lies.coseKey ?? this.#coseKey(lies.algorithm)])
    const authData = this.#authData(lies, attested)
    const statement: [string, Buffer][] = lies.certificates ? [['x5c', cborArray([cborBytes(randomBytes(20))])]] : []
    const attestationObject = cborMap([
      [cborText('fmt'), cborText(lies.format ?? 'none')],
      [cborText('attStmt'), cborMap(statement.map(([name, value]) => [cborText(name), value]))],
      [cborText('authData'), cborBytes(authData)],
    ])
    return {
      id: lies.id ?? id.toString('base64url'),
      rawId: lies.id ?? id.toString('base64url'),
      type: 'public-key',
      clientExtensionResults: lies.credProps ? { credProps: lies.credProps } : {},
      response: {
        clientDataJSON: this.#clientData('webauthn.create', challenge, lies),
        attestationObject: attestationObject.toString('base64url'),
        transports: ['internal', 'hybrid'],
      },
    }
  }

  /** Signs, as `navigator.credentials.get()` does. */
  get({ challenge }: RequestOptions, lies: Lies = {}): Record<string, unknown> {
    const clientDataJSON = this.#clientData('webauthn.get', challenge, lies)
    const authData = this.#authData(lies)
    const hashed = createHash('sha256').update(Buffer.from(clientDataJSON, 'base64url')).digest()
    const signed = lies.bogus ? randomBytes(40) : Buffer.concat([authData, hashed])
    const userHandle = 'userHandle' in lies ? lies.userHandle : this.#userHandle
    return {
      id: lies.id ?? this.id,
      rawId: lies.id ?? this.id,
      type: 'public-key',
      clientExtensionResults: {},
      response: {
        clientDataJSON,
        authenticatorData: authData.toString('base64url'),
        signature: sign('sha256', signed, this.#keys.privateKey).toString('base64url'),
        ...(userHandle !== undefined && { userHandle }),
      },
    }
  }

  #clientData(type: string, challenge: string, lies: Lies): string {
    const client = {
      type: lies.type ?? type,
      challenge: lies.challenge ?? challenge,
      origin: lies.origin ?? this.#origin,
      crossOrigin: lies.crossOrigin ?? false,
      ...(lies.topOrigin !== undefined && { topOrigin: lies.topOrigin }),
    }
    return Buffer.from(JSON.stringify(client)).toString('base64url')
  }

  #authData(lies: Lies, attested?: Buffer): Buffer {
    const { up = true, uv = true, be = this.backupEligible, bs = be } = lies
    const bits = [up && 1, uv && 4, be && 8, bs && 16, attested && 64]
    const head = Buffer.alloc(5)
    head.writeUInt8(bits.reduce<number>((sum, bit) => sum + (bit || 0), 0))
    head.writeUInt32BE(lies.signCount ?? this.signCount, 1)
    const rpIdHash = createHash('sha256')
      .update(lies.rpId ?? this.#rpId)
      .digest()
    return Buffer.concat([rpIdHash, head, ...(attested ? [attested] : [])])
  }

  #coseKey(algorithm = -7): Buffer {
    const { x, y } = this.#keys.publicKey.export({ format: 'jwk' })
    return cborMap([
      [cborInt(1), cborInt(2)],
      [cborInt(3), cborInt(algorithm)],
      [cborInt(-1), cborInt(1)],
      [cborInt(-2), cborBytes(Buffer.from(x!, 'base64url'))],
      [cborInt(-3), cborBytes(Buffer.from(y!, 'base64url'))],
    ])
  }
}

// As much of CBOR (RFC 8949) as an attestation object has.
function cborHead(major: number, length: number): Buffer {
  if (length < 24) return Buffer.from([(major << 5) | length])
  if (length < 256) return Buffer.from([(major << 5) | 24, length])
  return Buffer.from([(major << 5) | 25, length >> 8, length & 255])
}

function cborInt(value: number): Buffer {
  return value >= 0 ? cborHead(0, value) : cborHead(1, -1 - value)
}

function cborBytes(bytes: Buffer): Buffer {
  return Buffer.concat([cborHead(2, bytes.length), bytes])
}

function cborText(text: string): Buffer {
  return Buffer.concat([cborHead(3, Buffer.byteLength(text)), Buffer.from(text)])
}

function cborArray(items: Buffer[]): Buffer {
  return Buffer.concat([cborHead(4, items.length), ...items])
}

function cborMap(entries: [Buffer, Buffer][]): Buffer {
  return Buffer.concat([cborHead(5, entries.length), ...entries.flat()])
}

/** COSE keys that nobody can sign with, or everybody. */
export const bogusKeys: [string, Buffer][] = [
  ['a point beside the curve', ec2(-7, Buffer.alloc(32, 1), Buffer.alloc(32, 2))],
  ['an empty point', ec2(-7, Buffer.alloc(0), Buffer.alloc(0))],
  ['a point of P-256 for RSA', ec2(-257, Buffer.alloc(32, 1), Buffer.alloc(32, 2))],
  ['an RSA key whose signatures everybody makes', rsa(Buffer.concat([Buffer.alloc(255, 255), Buffer.from([1])]), [1])],
  ['a short RSA key', rsa(Buffer.alloc(128, 255), [1, 0, 1])],
  ['a long RSA key', rsa(Buffer.alloc(1024, 255), [1, 0, 1])],
]

function ec2(algorithm: number, x: Buffer, y: Buffer): Buffer {
  return cborMap([
    [cborInt(1), cborInt(2)],
    [cborInt(3), cborInt(algorithm)],
    [cborInt(-1), cborInt(1)],
    [cborInt(-2), cborBytes(x)],
    [cborInt(-3), cborBytes(y)],
  ])
}

function rsa(modulus: Buffer, exponent: number[]): Buffer {
  return cborMap([
    [cborInt(1), cborInt(3)],
    [cborInt(3), cborInt(-257)],
    [cborInt(-1), cborBytes(modulus)],
    [cborInt(-2), cborBytes(Buffer.from(exponent))],
  ])
}

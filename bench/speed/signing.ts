import { generateKeyPair, SignJWT } from 'jose'

/** The cost of signing alone. */
export interface Signing {
  /** Signatures per second of one process, with several under way. */
  rate: number
  /** CPU time of each signature, in microseconds. */
  cpu: number
}

/** Signs access tokens with jose and ES256 for so many seconds, as a token request does, and does nothing else. */
export async function measureSigning(seconds: number): Promise<Signing> {
  const { privateKey } = await generateKeyPair('ES256')
  const issuer = 'http://localhost:8080'
  const claims = { iss: issuer, sub: 'bench-client-1', aud: [issuer], client_id: 'bench-client-1', iat: 1, exp: 2 }
  const one = (n: number) =>
    new SignJWT({ ...claims, jti: String(n), organization: 'default' })
      .setProtectedHeader({ alg: 'ES256', kid: 'k', typ: 'at+jwt' })
      .sign(privateKey)
  for (let n = 0; n < 500; n++) await one(n)
  const [began, used] = [performance.now(), process.cpuUsage()]
  let count = 0
  const drive = async () => {
    while (performance.now() < began + seconds * 1000) await one(count++)
  }
  await Promise.all(Array.from({ length: 16 }, drive))
  const { user, system } = process.cpuUsage(used)
  return { rate: count / ((performance.now() - began) / 1000), cpu: (user + system) / count }
}

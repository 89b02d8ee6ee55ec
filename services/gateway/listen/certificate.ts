import { X509Certificate } from 'node:crypto'
import { createSecureContext } from 'node:tls'
import type { Log } from '#lib/log'
import type { ReloadedSetting } from '#lib/reloaded-setting'

/** A certificate chain and its key, in PEM. */
export interface Pair {
  cert: string
  key: string
}

/** Milliseconds between two looks at the files. */
const every = 1000

type Text = ReloadedSetting<string>

/**
 * The certificate of the port, which follows its files. Each look gives the pair as it is now, at most a second old, and
 * `renewed` is told of another one first. Where the files hold no pair, such as half a renewed one, the former pair
 * stays, and the log says so.
 */
export function followCertificate(cert: Text, key: Text, log: Log, renewed: (pair: Pair) => void) {
  // Both at one moment: else a pair could be half of the former one.
  const read = (): Pair => ({ cert: cert.refresh(), key: key.refresh() })
  let [pair, end, lookedAt] = [read(), 0, performance.now()]
  let refused: Pair | undefined
  setEnd()

  function setEnd() {
    end = new X509Certificate(pair.cert).validToDate.getTime() / 1000
  }

  function look(): Pair {
    if (performance.now() - lookedAt < every) return pair
    lookedAt = performance.now()
    const now = read()
    if (isSame(now, pair) || isSame(now, refused)) return pair
    try {
      createSecureContext(now)
      renewed(now)
      pair = now
      refused = undefined
      setEnd()
      log.info({ end: new Date(end * 1000).toISOString() }, 'new connections get the renewed certificate')
    } catch (error) {
      refused = now
      log.error({ err: error }, 'TLS_CERT and TLS_KEY are no certificate and its key: the former pair stays')
    }
    return pair
  }

  /** When the certificate ends, as Unix time. */
  return { look, endsAt: () => (look(), end) }
}

function isSame(one: Pair, other: Pair | undefined): boolean {
  return one.cert === other?.cert && one.key === other.key
}

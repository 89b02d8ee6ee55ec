import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Makes a certificate for localhost that signs itself: the files of it and of its key, and its text. */
export function makeCertificate() {
  const folder = mkdtempSync(join(tmpdir(), 'roster-tls-'))
  const [cert, key] = [join(folder, 'cert.pem'), join(folder, 'key.pem')]
  const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1']
  const kind = ['-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2']
  execFileSync('openssl', ['req', ...kind, ...subject, '-out', cert, '-keyout', key], { stdio: 'ignore' })
  return { cert, key, ca: readFileSync(cert, 'utf8'), remove: () => rmSync(folder, { recursive: true }) }
}

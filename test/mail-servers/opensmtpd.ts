import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { MailServerKind } from './mail-servers.ts'

/** Takes mail without TLS and so without AUTH: that of Debian 12 fails at TLS with OpenSSL 3 (its issue 1171). */
export const opensmtpd: MailServerKind = {
  name: 'OpenSMTPD',
  packages: ['opensmtpd', 'libevent-2.1-7', 'libdb5.3'],
  users: ['opensmtpd', 'opensmtpq'],
  program: 'usr/sbin/smtpd',
  configure({ folder, port, next, more }) {
    const file = join(folder, 'smtpd.conf')
    writeFileSync(
      file,
      [
        ...more,
        `listen on 127.0.0.1 port ${port}`,
        `action next relay host smtp://127.0.0.1:${next}`,
        'match from any for any action next',
        '',
      ].join('\n'),
    )
    return ['-d', '-f', file]
  },
}

import { chmodSync, chownSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { firstUser, type MailServerKind } from './mail-servers.ts'

/** Below the server's folder: the mailbox of every user, as a Maildir. */
export const maildir = 'box'

/** Shows one mailbox to the user `bounces` with the password `secret`, over TLS or STARTTLS alone. */
export const dovecot: MailServerKind = {
  name: 'Dovecot',
  packages: [
    'dovecot-core', 'dovecot-imapd', 'libapparmor1', 'libexttextcat-2.0-0', 'libicu72', 'liblua5.4-0', 'libsodium23',
    'libstemmer0d', 'libtirpc3', 'libunwind8', 'libwrap0',
  ], // prettier-ignore
  users: ['dovecot', 'dovenull'],
  program: 'usr/sbin/dovecot',
  libraries: ['usr/lib/dovecot'],
  // It finds its own programs and modules there, whatever its settings say.
  overlaid: ['usr/lib', 'usr/bin'],
  configure({ folder, port }) {
    const file = join(folder, 'dovecot.conf')
    makeMaildir(join(folder, maildir))
    writeFileSync(
      file,
      `
protocols = imap
listen = 127.0.0.1
base_dir = ${folder}/data/run
state_dir = ${folder}/data
log_path = ${folder}/log
ssl = required
ssl_cert = <${folder}/cert.pem
ssl_key = <${folder}/key.pem
mail_location = maildir:${folder}/${maildir}
first_valid_uid = ${firstUser}
first_valid_gid = ${firstUser}
passdb {
  driver = static
  args = user=bounces password=secret
}
userdb {
  driver = static
  args = uid=${firstUser} gid=${firstUser} home=${folder}/${maildir}
}
service imap-login {
  chroot =
  inet_listener imap {
    port = ${port}
  }
  inet_listener imaps {
    port = 0
  }
}
service anvil {
  chroot =
}
`,
    )
    return ['-F', '-c', file]
  },
}

function makeMaildir(folder: string) {
  for (const each of [folder, ...['cur', 'new', 'tmp'].map((name) => join(folder, name))]) {
    mkdirSync(each)
    chownSync(each, firstUser, firstUser)
    chmodSync(each, 0o700)
  }
}

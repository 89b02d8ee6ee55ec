import { chownSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { firstUser, type MailServerKind } from './mail-servers.ts'

/** Takes mail over TLS only, from the user `roster` with the password `secret`. */
export const exim: MailServerKind = {
  name: 'Exim',
  packages: [
    'exim4-daemon-light', 'libidn12', 'libdb5.3', 'libgnutls-dane0', 'libgnutls30', 'libidn2-0', 'libnsl2', 'libunbound8',
    'libpcre2-8-0', 'libtirpc3', 'libevent-2.1-7',
  ], // prettier-ignore
  users: ['Debian-exim'],
  program: 'usr/sbin/exim4',
  configure({ root, folder, port, next, more }) {
    chownSync(join(folder, 'spool'), firstUser, firstUser)
    const file = join(folder, 'exim.conf')
    writeFileSync(
      file,
      `
primary_hostname = localhost
exim_path = ${root}/usr/sbin/exim4
keep_environment =
spool_directory = ${folder}/spool
log_file_path = ${folder}/spool/%slog
pid_file_path = ${folder}/pid
local_interfaces = 127.0.0.1
daemon_smtp_ports = ${port}
tls_advertise_hosts = *
tls_certificate = ${folder}/cert.pem
tls_privatekey = ${folder}/key.pem
auth_advertise_hosts = \${if eq{$tls_in_cipher}{}{}{*}}
acl_smtp_rcpt = recipient
queue_run_max = 1
${more.join('\n')}
begin acl
recipient:
  accept authenticated = *
  deny
begin routers
next:
  driver = manualroute
  route_list = * 127.0.0.1::${next}
  self = send
  transport = next
begin transports
next:
  driver = smtp
  hosts_avoid_tls = *
begin authenticators
plain:
  driver = plaintext
  public_name = PLAIN
  server_prompts = :
  server_condition = \${if and{{eq{$auth2}{roster}}{eq{$auth3}{secret}}}}
  server_set_id = $auth2
`,
    )
    return ['-C', file, '-bdf', '-q5s']
  },
}

import { chownSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { firstUser, type MailServerKind } from './mail-servers.ts'

export const postfix: MailServerKind = {
  name: 'Postfix',
  packages: ['postfix', 'libsasl2-2', 'libicu72', 'libdb5.3', 'libnsl2', 'libtirpc3'],
  users: ['postfix', 'postdrop'],
  program: 'usr/sbin/postfix',
  libraries: ['usr/lib/postfix'],
  configure({ root, folder, port, next, more }) {
    const configuration = join(folder, 'etc')
    mkdirSync(configuration)
    chownSync(join(folder, 'data'), firstUser, firstUser)
    writeFileSync(
      join(configuration, 'main.cf'),
      [
        'compatibility_level = 3.6',
        `queue_directory = ${folder}/spool`,
        `data_directory = ${folder}/data`,
        `daemon_directory = ${root}/usr/lib/postfix/sbin`,
        `command_directory = ${root}/usr/sbin`,
        `meta_directory = ${root}/etc/postfix`,
        `shlib_directory = ${root}/usr/lib/postfix`,
        `maillog_file = ${folder}/log`,
        `maillog_file_prefixes = ${folder}`,
        'myhostname = localhost',
        'inet_interfaces = 127.0.0.1',
        'inet_protocols = ipv4',
        'mydestination =',
        'alias_maps =',
        'mynetworks =',
        'relay_domains = static:all',
        'relay_transport = smtp',
        'fast_flush_domains =',
        `relayhost = [127.0.0.1]:${next}`,
        'smtpd_relay_restrictions = reject_unauth_destination',
        // By default the own network is free of these limits.
        'smtpd_client_event_limit_exceptions =',
        'smtpd_tls_security_level = may',
        `smtpd_tls_cert_file = ${folder}/cert.pem`,
        `smtpd_tls_key_file = ${folder}/key.pem`,
        'smtp_tls_security_level = none',
        ...more,
        '',
      ].join('\n'),
    )
    const services = [
      `127.0.0.1:${port} inet n - n - - smtpd`,
      'cleanup unix n - n - 0 cleanup',
      'qmgr unix n - n 300 1 qmgr',
      'tlsmgr unix - - n 1000? 1 tlsmgr',
      'rewrite unix - - n - - trivial-rewrite',
      'bounce unix - - n - 0 bounce',
      'defer unix - - n - 0 bounce',
      'trace unix - - n - 0 bounce',
      'proxymap unix - - n - - proxymap',
      'smtp unix - - n - - smtp',
      'virtual unix - n n - - virtual',
      'error unix - - n - - error',
      'retry unix - - n - - error',
      'anvil unix - - n - 1 anvil',
      'scache unix - - n - 1 scache',
      'postlog unix-dgram n - n - 1 postlogd',
    ]
    writeFileSync(join(configuration, 'master.cf'), `${services.join('\n')}\n`)
    return ['-c', configuration, 'start-fg']
  },
}

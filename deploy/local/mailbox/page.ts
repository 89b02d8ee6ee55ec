import type { Mail } from './store.ts'

/** The mailbox as a page without scripts: the list, and the mail with that id (default: the newest). */
export function mailboxPage(mails: readonly Mail[], id: string | null): string {
  const open = mails.find((mail) => mail.ID === id) ?? mails[0]
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Mailbox (${mails.length})</title>
<style>${style}</style>
<nav aria-label="Mails"><h1>Mailbox <small>${mails.length}</small></h1>
${mails
  .slice(0, 200)
  .map((mail) => entry(mail, mail === open))
  .join('\n')}
</nav>
<main>${open ? opened(open) : '<p>No mail yet. What Roster sends shows up here; load the page again.</p>'}</main>
</html>`
}

const style = `
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
body { margin: 0; display: grid; grid-template-columns: minmax(14rem, 24rem) 1fr; min-height: 100vh; }
nav { border-right: 1px solid #8886; overflow: auto; max-height: 100vh; }
h1 { font-size: 1.1rem; padding: 0 1rem; } small { opacity: .6; }
nav a { display: block; padding: .5rem 1rem; color: inherit; text-decoration: none; border-top: 1px solid #8883; }
nav a[aria-current] { background: #8883; } nav b, nav span { display: block; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
main { padding: 1rem; min-width: 0; } pre { white-space: pre-wrap; overflow-wrap: anywhere; }
iframe { width: 100%; height: 60vh; border: 1px solid #8886; background: #fff; }
@media (max-width: 45rem) { body { grid-template-columns: 1fr; } nav { max-height: 40vh; } }`

function entry(mail: Mail, current: boolean): string {
  return `<a href="/?id=${encodeURIComponent(mail.ID)}"${current ? ' aria-current="true"' : ''}><b>${escape(mail.Subject)}</b><span>${escape(addresses(mail))}</span><small>${escape(mail.Created)}</small></a>`
}

function opened(mail: Mail): string {
  return `<h2>${escape(mail.Subject)}</h2>
<p>From ${escape(mail.From.Address)} to ${escape(addresses(mail))}<br><small>${escape(mail.Created)}</small></p>
<pre>${escape(mail.Text)}</pre>
${mail.HTML && `<h3>HTML</h3><iframe sandbox="allow-popups" title="The mail as HTML" srcdoc="${escape(mail.HTML)}"></iframe>`}`
}

function addresses(mail: Mail): string {
  return mail.To.map((to) => to.Address).join(', ')
}

function escape(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}

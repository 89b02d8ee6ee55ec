// Of the page that follows a sign-in with a password, and offers a passkey: it lies in the page. Whatever fails, the
// sign-in goes on.
;(() => {
  const form = document.getElementById('passkey-form')
  const goOn = () => location.replace(document.getElementById('go-on').action)
  if (!form) return
  const { dataset } = form
  const isConditional = dataset.conditional !== ''
  // Nobody waits longer than this for what they did not ask for. Milliseconds.
  const patience = 2000
  // A challenge is good for five minutes.
  const goodFor = 240_000
  const madeAt = Date.now()

  // passkey-able.js reads it.
  try {
    localStorage.setItem('roster-passkey-offered', String(madeAt))
  } catch {
    // A browser that keeps nothing is asked again.
  }

  async function make(options) {
    const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(JSON.parse(dataset.options))
    const credential = await navigator.credentials.create({ publicKey, ...options })
    form.elements.credential.value = JSON.stringify(credential)
    form.requestSubmit(form.elements['passkey-action'])
  }

  if (isConditional) {
    // Once: the second question would come after the answer.
    let isGoing = false
    const goOnOnce = () => {
      if (!isGoing) goOn()
      isGoing = true
    }
    const over = new AbortController()
    const timer = setTimeout(() => {
      goOnOnce()
      over.abort()
    }, patience)
    make({ mediation: 'conditional', signal: over.signal })
      .catch(goOnOnce)
      .finally(() => clearTimeout(timer))
    return
  }

  const button = document.getElementById('passkey-button')
  button.hidden = false
  button.addEventListener('click', async () => {
    if (Date.now() - madeAt > goodFor) return goOn()
    button.setAttribute('aria-disabled', 'true')
    try {
      await make({})
    } catch (error) {
      const known = {
        InvalidStateError: 'exists',
        NotAllowedError: 'stopped',
        AbortError: 'stopped',
        SecurityError: 'misplaced',
      }
      document.getElementById('passkey-status').textContent = dataset[known[error.name]] ?? dataset.failed
    }
    button.removeAttribute('aria-disabled')
  })
})()

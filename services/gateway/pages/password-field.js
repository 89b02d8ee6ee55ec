// Of each page with a password: it lies in a page of login, and reset-password.html loads it. A page says the same
// without it, and the server decides.
;(() => {
  const least = 8
  const better = 15

  for (const button of document.querySelectorAll('button.show')) {
    const input = document.getElementById(button.getAttribute('aria-controls'))
    const show = (isShown) => {
      input.type = isShown ? 'text' : 'password'
      button.setAttribute('aria-pressed', String(isShown))
    }
    button.addEventListener('click', () => show(input.type === 'password'))
    // Else the browser would remember it among the texts of forms.
    input.form.addEventListener('submit', () => show(false))
    button.hidden = false
  }

  for (const hint of document.querySelectorAll('[data-hint-of]')) {
    const input = document.getElementById(hint.dataset.hintOf)
    let before
    const tell = () => {
      before ??= hint.textContent
      const said = hint.dataset[judge([...input.value])] ?? before
      // A screen reader reads each change.
      if (hint.textContent !== said) hint.textContent = said
    }
    input.addEventListener('input', tell)
  }

  function judge(characters) {
    if (characters.length === 0) return 'empty'
    if (characters.length < least) return 'short'
    if (new Set(characters).size < 5 || characters.every((one) => /\d/.test(one))) return 'plain'
    return characters.length < better ? 'enough' : 'good'
  }
})()

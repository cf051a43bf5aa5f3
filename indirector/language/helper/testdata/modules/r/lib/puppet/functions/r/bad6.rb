raise 'at load'
